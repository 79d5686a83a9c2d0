/** Tests that docs/reference/fake-api-server.md names every fault, every default resource and every fault of the TCP proxy. */
import { readFileSync } from 'node:fs';
import { defaultResources } from 'rx-informer/testing';
import { expect, it } from 'vitest';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const page = read('docs/reference/fake-api-server.md');

/** The members of a class or an interface in the public surface of `rx-informer/testing`, with their results. */
function methodsOf(name: string): { readonly method: string; readonly result: string }[] {
  const surface = read('spec/api/testing.txt');
  const declared = new RegExp(`^export (?:class|interface) ${name} .*\\{\\n([\\s\\S]*?)^\\}`, 'm');
  const body = declared.exec(surface)?.[1] ?? '';
  const methods = body.matchAll(/^ {4}(?!constructor)(\w+)\((?:[\s\S]*?)\): ([^;\n]+);$/gm);
  return [...methods].map(([, method = '', result = '']) => ({ method, result }));
}

it('the table of faults has one row for each fault, and no other', () => {
  const table = /^\| fault \| effect \|\n([\s\S]*?)\n\n/m.exec(page)?.[1] ?? '';
  const rows = [...table.matchAll(/^\| `(\w+)\(/gm)].map(([, method = '']) => method);
  // A fault returns its handle, or how many watches it met.
  const faults = methodsOf('Faults').filter(({ result }) => /^(?:Fault|number)$/.test(result));
  expect(rows.toSorted()).toEqual(faults.map(({ method }) => method).sort());
  expect(page).toContain('`healAll()`');
});

it('the page names each fault of the TCP proxy', () => {
  const faults = methodsOf('TcpProxy')
    .map(({ method }) => method)
    .filter((name) => name !== 'close');
  expect(faults.length).toBeGreaterThan(4);
  expect(faults.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

it('the table of resources has each default resource, and no other', () => {
  const table = /^\| API group \| resources \|\n([\s\S]*?)\n\n/m.exec(page)?.[1] ?? '';
  const rows = [...table.matchAll(/^\| (?:core \(`v1`\)|`([^`]+)`) \| (.*) \|$/gm)].flatMap(
    ([, group = 'v1', cell = '']) =>
      [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => `${group} ${name}`),
  );
  const served = defaultResources.map(({ group, version, plural }) =>
    group === '' ? `${version} ${plural}` : `${group}/${version} ${plural}`,
  );
  expect(rows.toSorted()).toEqual(served.toSorted());
});
