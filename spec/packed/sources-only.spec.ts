/** Tests the list of specs that run on the sources only. */
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { librarySpecs, reachedFrom, sourcesOnly } from './conformance/outside-specs.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

it('T41: every spec runs on the packed library, unless it is listed and imports an internal file or says why not', () => {
  const listed = sourcesOnly(root);
  const specs = librarySpecs(root);
  expect([...listed.keys()].filter((spec) => !specs.includes(spec))).toEqual([]);
  const wrong = specs.filter((spec) => {
    const isInternal = reachedFrom(root, spec).internal !== undefined;
    const reason = listed.get(spec);
    return isInternal ? reason !== '' : reason === '';
  });
  expect(wrong).toEqual([]);
});
