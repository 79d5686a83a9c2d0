/** Tests `typesVersions` of package.json, which must name the same declarations as `exports`. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { withTypesVersions } from './types-versions.ts';

const MANIFEST = `{
  "exports": {
    ".": { "types": "./dist/index.d.ts" },
    "./node": { "types": "./dist/node/index.d.ts" },
    "./package.json": "./package.json"
  },
  "scripts": {}
}
`;

describe('typesVersions', () => {
  it('T40: typesVersions in package.json is what `npm run api` makes of exports', () => {
    const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
    expect(withTypesVersions(text)).toBe(text);
    const { exports, typesVersions } = JSON.parse(text);
    const paths = Object.keys(typesVersions['*']).map((path) => `./${path}`);
    expect(['.', ...paths, './package.json'].sort()).toEqual(Object.keys(exports).sort());
  });

  it('T40: an entry that is added or moved changes typesVersions', () => {
    const first = withTypesVersions(MANIFEST);
    expect(JSON.parse(first).typesVersions).toEqual({ '*': { node: ['./dist/node/index.d.ts'] } });
    const other = first.replace('dist/node/index', 'dist/moved/index');
    expect(JSON.parse(withTypesVersions(other)).typesVersions).toEqual({
      '*': { node: ['./dist/moved/index.d.ts'] },
    });
    expect(withTypesVersions(first)).toBe(first);
  });
});
