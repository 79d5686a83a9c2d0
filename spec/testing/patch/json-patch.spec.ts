/** JSON Patch against the public test suite. The fake server deviates from RFC 6902 only where kube-apiserver does. */
import { createRequire } from 'node:module';
import type { JsonPatchOperation } from 'rx-informer';
import { describe, expect, it } from 'vitest';
import { JsonPatchFailure, jsonPatch } from '../../../lib/testing/patch/json-patch.ts';
import { mergePatch } from '../../../lib/testing/patch/merge-patch.ts';

interface Case {
  readonly comment?: string;
  readonly doc: unknown;
  readonly patch: JsonPatchOperation[];
  readonly expected?: unknown;
  readonly error?: string;
  readonly disabled?: boolean;
}

const require = createRequire(import.meta.url);
const files = ['tests.json', 'spec_tests.json'] as const;
const cases = files
  .flatMap((file) => require(`json-patch-test-suite/${file}`) as Case[])
  .filter(({ disabled, doc, patch }) => !disabled && doc !== undefined && patch !== undefined);

const same = (value: unknown) => JSON.stringify(value).slice(0, 60);

/** The cases that RFC 6902 refuses and a real kube-apiserver accepts. */
const LENIENT = ['add', 'replace', 'test'].map((op) => `missing 'value' parameter to ${op}`);

describe('JSON Patch', () => {
  it('finds the test suite', () => expect(cases.length).toBeGreaterThan(90));

  it.each(cases.map((each) => [each.comment ?? each.error ?? same(each.patch), each] as const))(
    '%s',
    (name, { doc, patch, expected, error }) => {
      const before = structuredClone(doc);
      const run = () => jsonPatch(doc, patch);
      if (LENIENT.includes(name)) expect(run).not.toThrow();
      else if (error !== undefined) expect(run).toThrow(JsonPatchFailure);
      else if (expected !== undefined) expect(run()).toEqual(expected);
      else run();
      expect(doc).toEqual(before);
    },
  );
});

/** Appendix A of RFC 7386: original, patch, result. */
const MERGES: readonly (readonly [unknown, unknown, unknown])[] = [
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [
    ['a', 'b'],
    ['c', 'd'],
    ['c', 'd'],
  ],
  [{ a: 'b' }, ['c'], ['c']],
  [{ a: 'foo' }, null, null],
  [{ a: 'foo' }, 'bar', 'bar'],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: 'b', c: null }, { a: 'b' }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
];

describe('JSON Merge Patch', () => {
  it.each(MERGES)('%j with %j', (target, patch, result) => {
    const before = structuredClone(target);
    expect(mergePatch(target, patch)).toEqual(result);
    expect(target).toEqual(before);
  });
});
