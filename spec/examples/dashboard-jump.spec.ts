/** Tests what the text of the dashboard's jump means. */
import { describe, expect, test } from 'vitest';
import { kindGroups } from '../../examples/dashboard/page/kinds/index.ts';
import { kindsFor, searchOf } from '../../examples/dashboard/page/layout/jump-target.ts';

const idsFor = (text: string, isWholeCluster = true) =>
  kindsFor(text, kindGroups, isWholeCluster).map(({ id }) => id);

describe('kinds', () => {
  test.each([
    [':deploy', 'deployments'],
    ['svc', 'services'],
    ['Pods', 'pods'],
    ['no', 'nodes'],
    ['resourcequota', 'quotas'],
  ])('the first one of %s is %s', (text, id) => expect(idsFor(text)[0]).toBe(id));

  test('without a text are all, and those of no namespace only of a whole cluster', () => {
    expect(idsFor('')).toEqual(kindGroups.flatMap(({ kinds }) => kinds.map(({ id }) => id)));
    expect(idsFor('', false)).not.toContain('nodes');
  });

  test('are not meant by a second word', () => expect(idsFor('deploy web')).toEqual([]));
});

describe('a search', () => {
  const search = (text: string) => {
    const { words, kinds } = searchOf(text, kindGroups, true) ?? {};
    return words && { words, kinds: kinds?.map(({ id }) => id) };
  };

  test('needs two letters', () => {
    expect(search(' w ')).toBeUndefined();
    expect(search('')).toBeUndefined();
  });

  test('is for all kinds with names, without those that consist of others', () => {
    const found = search('Web 0');
    expect(found?.words).toEqual(['web', '0']);
    expect(found?.kinds).toContain('configmaps');
    for (const id of ['events', 'tree']) expect(found?.kinds).not.toContain(id);
  });

  test('is for one kind that precedes the name', () => {
    expect(search('ns shop')).toEqual({ words: ['shop'], kinds: ['namespaces'] });
    expect(search('pod w')).toEqual({ words: ['w'], kinds: ['pods'] });
    expect(search('podinfo web')?.words).toEqual(['podinfo', 'web']);
  });
});
