/** Tests the state of the dashboard in its URL, and the text of its filter box. */

import { describe, expect, test } from 'vitest';
import {
  type PageState,
  readPage,
  writePage,
} from '../../examples/dashboard/page/cluster/page-state.ts';
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
