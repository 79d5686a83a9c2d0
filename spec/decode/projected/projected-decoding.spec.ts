import { type Decoding, jsonDecoding, type Projected, projectedDecoding } from 'rx-informer';
import { type Pod, pods } from 'rx-informer/resources';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { createPathTree, reduce } from '../../../lib/decode/projected/path-tree.ts';
import * as fc from '../../support/fast-check.ts';
import { bytes, cuts, list, type Options, watch } from '../decoder.ts';

const line = (object: string) => `{"type":"ADDED","object":${object}}\n`;

/** The objects of a text that came by a watch and by a list, as text. */
function shown(text: string, options: Options): unknown {
  const body = `{"kind":"PodList","items":[${text}],"metadata":{"resourceVersion":"1"}}`;
  const { out, failure } = watch([line(text)], options);
  const listed = list([body], options);
  return JSON.stringify([out, failure, listed.out, listed.failure]);
}

/** The same, decoded completely and then reduced. */
function reduced(text: string, project: readonly string[], options: Options = {}): unknown {
  const tree = createPathTree([...project, 'kind', 'apiVersion', 'metadata']);
  const transform = (object: object) => reduce(object, tree) as never;
  return shown(text, { ...options, decoding: jsonDecoding(), transform });
}

const project = ['spec.nodeName', 'spec.containers.image', 'status.conditions', 'data["a.b"]'];

describe('a projection', () => {
  const texts: Record<string, string> = {
    'a Pod': `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","managedFields":[{"x":{}}]},"spec":{"containers":[{"name":"m","image":"i"},{"name":"n"}],"nodeName":"n1","x":{}},"status":{"phase":"p","conditions":[{"type":"Ready"}]}}`,
    'an item without a type': `{"metadata":{"name":"a"},"spec":{"nodeName":"n"}}`,
    'none of the paths': `{"metadata":{"name":"a"},"data":{"x":1}}`,
    'sorted names': `{"apiVersion":"g/v1","data":{"a.b":1,"a":{"b":2}},"kind":"Pod","metadata":{"managedFields":[{"a":["]"]}],"name":"a"},"spec":{}}`,
    'other types than expected': `{"metadata":{"name":"a"},"spec":{"containers":{"image":"i"},"nodeName":{"x":1}},"status":null,"data":"x"}`,
    'arrays in arrays': `{"metadata":{"name":"a"},"spec":[[{"nodeName":1,"x":2}],3,null,[]]}`,
    'null within arrays': `{"metadata":{"name":"a"},"spec":{"containers":[null,{"image":null},1,"x",[]]}}`,
    'white space': `{ "metadata": {"name":"a"}, "spec": {"nodeName": "n", "x": 1} }`,
    'white space below': `{"metadata":{"name":"a"},"spec":{"nodeName" : "n","x":1}}`,
    'an escaped name': `{"metadata":{"name":"a"},"spec":{"node\\u004eame":"n","x":1}}`,
    'a repeated name': `{"metadata":{"name":"a"},"spec":{"nodeName":"n","x":1},"spec":{"x":{}}}`,
    'a repeated name, last of a number': `{"metadata":{"name":"a"},"spec":{"nodeName":"n"},"spec":0}`,
    'a member named __proto__': `{"metadata":{"name":"a"},"__proto__":{"spec":1},"spec":{"__proto__":1}}`,
    'longer characters': `{"metadata":{"name":"a","labels":{"é":"😀"}},"spec":{"é":1,"nodeName":"😀é"}}`,
    'wrongly guessed managedFields': `{"metadata":{"name":"a","managedFields":[{"a":[{}]},{}]},"spec":{"nodeName":"n"}}`,
    'brackets in texts': `{"metadata":{"name":"a","labels":{"x":"]}"}},"z":"}","spec":{"y":"{\\"","nodeName":"]"}}`,
    'no metadata': `{"spec":{"nodeName":"n"}}`,
  };
  it.each(Object.entries(texts))('D35: %s is reduced to the paths', (_name, text) => {
    for (const keepManagedFields of [false, true]) {
      const options = { keepManagedFields };
      const decoding = projectedDecoding({ project });
      expect(shown(text, { ...options, decoding })).toBe(reduced(text, project, options));
    }
  });

  it('D35: a name of other characters whose codes are the bytes of the name in the path is another name', () => {
    const paths = ['spec["Ã©"]'];
    const decoding = projectedDecoding({ project: paths });
    const text = '{"metadata":{"name":"a"},"spec":{"é":1}}';
    expect(shown(text, { decoding })).toBe(reduced(text, paths));
  });

  it('D35, D1: the objects do not depend on where the bytes are cut', () => {
    const text = line(texts['a Pod'] ?? '');
    const expected = watch([text], { decoding: projectedDecoding({ project }) });
    for (const chunks of cuts(bytes(text))) {
      expect(watch(chunks, { decoding: projectedDecoding({ project }) })).toEqual(expected);
    }
  });

  it('D35: any object and any paths', () => {
    const name = fc.constantFrom('spec', 'a', 'b', 'é', '"');
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom(null, true, 0, 1.5, '', 'a', ']}', '{"', '\\'),
        fc.array(tie('any'), { maxLength: 3 }),
        fc.dictionary(name, tie('any'), { maxKeys: 4 }),
      ),
    })).any;
    const path = fc.array(fc.constantFrom('spec', 'a', 'b', '["é"]'), {
      minLength: 1,
      maxLength: 4,
    });
    const paths = fc.array(
      path.map((names) => names.join('.').replaceAll('.[', '[')),
      { maxLength: 4 },
    );
    const object = fc.dictionary(name, value, { maxKeys: 4 });
    fc.assert(
      fc.property(object, value, paths, fc.boolean(), (others, managedFields, chosen, first) => {
        const metadata = { metadata: { name: 'a', managedFields } };
        const text = JSON.stringify(
          first ? { ...metadata, ...others } : { ...others, ...metadata },
        );
        const decoding = projectedDecoding({ project: chosen });
        expect(shown(text, { decoding })).toBe(reduced(text, chosen));
      }),
      { numRuns: 2000 },
    );
  });

  it('D35: a line of another form is reduced, too', () => {
    const decoding = projectedDecoding({ project: ['spec.nodeName'] });
    const object = '{"metadata":{"name":"a"},"spec":{"nodeName":"n","x":1}}';
    const { out } = watch([`{"object":${object}, "type":"ADDED"}\n`], { decoding });
    expect(out).toMatchObject([{ object: { spec: { nodeName: 'n' } } }]);
    expect(JSON.stringify(out)).not.toContain('"x"');
  });

  it('D35: deeply nested arrays do not overflow the stack, and are left out', () => {
    const decoding = projectedDecoding({ project: ['spec.a'] });
    const text = `{"metadata":{"name":"a"},"spec":${'['.repeat(9_999)}${']'.repeat(9_999)}}`;
    expect(shown(text, { decoding })).toBe(reduced(text, ['spec.a']));
  });

  it('D35: a text that is not a path is a TypeError', () => {
    for (const path of ['', '.', 'a..b', 'a[', 'a b']) {
      expect(() => projectedDecoding({ project: [path] })).toThrow(TypeError);
    }
    for (const paths of ['spec', null, 7]) {
      const options = { project: paths as unknown as string[] };
      expect(() => projectedDecoding(options)).toThrow(
        /project is .*; it must be an array of paths/,
      );
    }
    const decoding = projectedDecoding as unknown as () => Decoding;
    expect(decoding).toThrow(
      'projectedDecoding: project is undefined; it must be an array of paths',
    );
  });

  it('D35: paths are checked against the type of the resource, and the type has only these', () => {
    const decoding = projectedDecoding({
      resource: pods,
      project: ['status.phase', 'spec.containers.image'],
    });
    expect(decoding.resource).toBe(pods);
    type Small = Projected<Pod, 'status.phase' | 'spec.containers.image'>;
    expectTypeOf<keyof Small>().toEqualTypeOf<
      'apiVersion' | 'kind' | 'metadata' | 'spec' | 'status'
    >();
    expectTypeOf<keyof NonNullable<Small['spec']>>().toEqualTypeOf<'containers'>();
    expectTypeOf<NonNullable<Small['status']>['phase']>().toEqualTypeOf<
      NonNullable<Pod['status']>['phase']
    >();
    // @ts-expect-error A Pod has no such field.
    projectedDecoding({ resource: pods, project: ['status.faze'] });
  });
});
