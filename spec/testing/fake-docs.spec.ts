/** Tests that the page of the fake API server is complete. */
import { readFileSync } from 'node:fs';
import { createFakeApiServer, defaultResources } from 'rx-informer/testing';
import { expect, it } from 'vitest';

const page = readFileSync(
  new URL('../../docs/reference/fake-api-server.md', import.meta.url),
  'utf8',
);
const row = (first: string) => page.split('\n').find((line) => line.startsWith(`| ${first}`)) ?? '';
/** What the server calls, and what ends all faults. */
const NO_FAULTS = ['constructor', 'judge', 'silent', 'loses', 'gzips', 'allowsBookmark', 'healAll'];

it('A91: the page has a row for each fault, and for each resource that is served by default', () => {
  const methods = Object.getOwnPropertyNames(
    Object.getPrototypeOf(createFakeApiServer().faults),
  ).filter((name) => !NO_FAULTS.includes(name));
  expect(methods.length).toBeGreaterThan(15);
  expect(methods.filter((name) => row(`\`${name}(`) === '')).toEqual([]);
  const missing = defaultResources.filter(({ group, version, plural }) => {
    const first = group === '' ? `core (\`${version}\`)` : `\`${group}/${version}\``;
    return !row(first).includes(`\`${plural}\``);
  });
  expect(missing).toEqual([]);
});
