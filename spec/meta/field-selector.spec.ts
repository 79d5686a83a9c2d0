import { createClient, createResourceClient, parseFieldSelector } from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { describe, expect, it } from 'vitest';
import * as fc from '../support/fast-check.ts';

const pod = {
  metadata: { name: 'web-0', namespace: 'shop' },
  spec: { nodeName: 'node-1', hostNetwork: true },
  status: { phase: 'Running' },
};

describe('field selector', () => {
  it.each([
    ['', true],
    ['metadata.name=web-0', true],
    ['metadata.name==web-0', true],
    ['metadata.name!=web-0', false],
    ['metadata.name=web-0,status.phase!=Running', false],
    ['metadata.name=web-0,status.phase!=Pending', true],
    ['spec.hostNetwork=true', true],
    ['spec.gone=', true],
    ['spec.gone!=x', true],
    ['spec=', true],
    ['metadata.name = web-0', false],
    ['metadata.name= web-0', false],
    ['a!b=', true],
    ['constructor.name=Object', false],
    ['__proto__.toString!=', false],
  ])('M3: whether %j matches a pod: %j', (text, expected) => {
    expect(parseFieldSelector(text).matches(pod)).toBe(expected);
  });

  it.each([
    ['spec.foo', 'found the end at position 8', '=, == or !='],
    ['=x', 'found "=" at position 0', 'the path of a field'],
    ['a=b=c', 'found "=" at position 3', "',' or the end"],
    ['a=b\\x', 'found "\\\\" at position 3', "'\\\\', '\\,' or '\\='"],
  ])('M3: refuses %j: %s, expected %s', (text, found, expected) => {
    expect(() => parseFieldSelector(text)).toThrow(TypeError);
    expect(() => parseFieldSelector(text)).toThrow(
      `field selector ${JSON.stringify(text)}: ${found}, expected ${expected}`,
    );
  });

  it('M3, M17: selectors with one meaning have one text form: terms in order, one equality sign, each term once', () => {
    const forms = [
      'status.phase!=Failed,spec.nodeName=n',
      'spec.nodeName==n,status.phase!=Failed',
      'spec.nodeName=n,status.phase!=Failed,,spec.nodeName==n',
    ];
    expect([...new Set(forms.map((text) => parseFieldSelector(text).toString()))]).toEqual([
      'spec.nodeName=n,status.phase!=Failed',
    ]);
    const { requirements } = parseFieldSelector('b==2,a!=1');
    expect(requirements.map(({ field }) => field)).toEqual(['b', 'a']);
  });

  it('M3: spaces belong to the field and to the value, as in apimachinery, so a server refuses such a field', async () => {
    const text = 'metadata.name = web-0';
    expect(parseFieldSelector(text).requirements).toEqual([
      { field: 'metadata.name ', operator: '=', value: ' web-0' },
    ]);
    expect(parseFieldSelector(text).toString()).toBe(text);
    const client = createClient({ baseUrl: 'http://fake', fetch: createFakeApiServer().fetch });
    const answer = createResourceClient(client, pods).list({ fieldSelector: text });
    await expect(answer).rejects.toThrow('field label not supported: metadata.name ');
    await expect(answer).rejects.toMatchObject({ code: 400 });
  });

  it('M3: the text form escapes special characters', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (value, other) => {
        const text = `metadata.name=${value.replace(/[\\,=]/g, '\\$&')},metadata.uid!=`;
        const selector = parseFieldSelector(text);
        expect(selector.matches({ metadata: { name: value, uid: 'u' } })).toBe(true);
        expect(selector.matches({ metadata: { name: other, uid: 'u' } })).toBe(other === value);
        expect(selector.toString()).toBe(text);
      }),
    );
  });
});
