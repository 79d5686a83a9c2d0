/** Tests the state of the dashboard in its URL, the text of its filter box, and what the text of its jump means. */
import { describe, expect, test } from 'vitest';
import {
  type PageState,
  readPage,
  writePage,
} from '../../examples/dashboard/page/cluster/page-state.ts';
import { kindGroups } from '../../examples/dashboard/page/kinds/index.ts';
import { kindsFor, searchOf } from '../../examples/dashboard/page/layout/jump-target.ts';
import { parseFilter } from '../../examples/dashboard/page/table/filter.ts';
import * as fc from '../support/fast-check.ts';

const text = fc.oneof(fc.constant(''), fc.string());
const name = fc.string({ minLength: 1 });
const part = fc.string({ unit: fc.constantFrom('a', '-', '.', '/', '&') });

const state: fc.Arbitrary<PageState> = fc.record({
  kind: fc.constantFrom('pods', 'nodes', 'tree'),
  filter: text,
  namespace: text,
  tone: fc.constantFrom('', 'bad'),
  status: text,
  sort: fc.option(
    fc.record({ key: fc.constantFrom('name', 'createdMs'), descending: fc.boolean() }),
    { nil: undefined },
  ),
  columns: fc.option(fc.array(fc.constantFrom('status', 'ip'), { minLength: 1 }), {
    nil: undefined,
  }),
  object: fc.option(
    // A name may contain anything, also the separator.
    fc.record({ kind: fc.constant('pods'), namespace: part, name, uid: part }),
    { nil: undefined },
  ),
  tab: fc.constantFrom('', 'logs'),
  panel: fc.constantFrom('', 'queries'),
});

test('the URL keeps the complete state of the page', () => {
  fc.assert(
    fc.property(state, (page) => {
      expect(readPage(writePage(page))).toEqual(page);
    }),
  );
  expect(writePage(readPage(''))).toBe('');
});

describe('the filter box', () => {
  test('tells words, label selectors and field selectors apart', () => {
    expect(parseFilter('Cart app.kubernetes.io/name=web tier in (a, b) !legacy')).toEqual({
      words: ['cart'],
      labelSelector: 'app.kubernetes.io/name=web,!legacy,tier in (a,b)',
      fieldSelector: '',
    });
    expect(parseFilter('spec.nodeName=n1 status.phase!=Running web')).toEqual({
      words: ['web'],
      labelSelector: '',
      fieldSelector: 'spec.nodeName=n1,status.phase!=Running',
    });
    expect(parseFilter('')).toEqual({ words: [], labelSelector: '', fieldSelector: '' });
  });

  test('takes a field for one only if it has a path, or is one of Events', () => {
    for (const label of ['type=web', 'status=ready', 'reason!=x', 'metadata=a']) {
      expect(parseFilter(label, 'pods')).toEqual({
        words: [],
        labelSelector: label,
        fieldSelector: '',
      });
    }
    expect(parseFilter('type=Warning', 'events')).toMatchObject({
      labelSelector: '',
      fieldSelector: 'type=Warning',
    });
  });

  test('explains a selector that is not valid in the words of the library', () => {
    expect(parseFilter('app=web! in').problem).toMatch(/label selector/);
    expect(parseFilter('spec.nodeName=a=b').problem).toMatch(/field selector/);
  });
});

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
