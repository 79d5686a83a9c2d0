/**
 * Tests how the public surface of an entry is derived from declarations, whose real surfaces `npm run check` compares, and that `typesVersions`
 * of package.json names the same declarations as `exports`.
 */

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Surfaces } from './surface.ts';
import { withTypesVersions } from './types-versions.ts';

const files: Readonly<Record<string, string>> = {
  'index.d.ts': `export { open, type Options } from './a/open.ts';
export type { Draft } from './a/draft.ts';
export { Shelf as Store } from './a/shelf.ts';
`,
  'a/open.d.ts': `import type { Hidden } from './hidden.ts';
import type { Observable } from 'rxjs';
export interface Options {
    readonly hidden?: Hidden;
}
export declare function open(): Observable<unknown>;
export declare function open(options: Options): Observable<string>;
export declare function unseen(): void;
`,
  'a/hidden.d.ts': `type Deeper = 'Options' | 1;
export interface Hidden extends Readonly<Record<string, Deeper>> {
}
export {};
`,
  'a/draft.d.ts': `import type { Draft } from 'immer';
export type { Draft };
`,
  'a/shelf.d.ts': `export declare class Shelf {
    #private;
    readonly size: number;
}
`,
  'edge/index.d.ts': `export * from './all.ts';
`,
  'edge/all.d.ts': `import type { Options } from '../a/open.ts';
export declare const again: (options: Options) => void;
`,
};
const surfaces = new Surfaces((path) => files[path] ?? '');

describe('the surface of an entry', () => {
  it('contains each export, overloads together, and the declarations that exports mention without being exported themselves', () => {
    expect(surfaces.surfaceOf('index.d.ts')).toBe(`export type Draft = import('immer').Draft;

export interface Options {
    readonly hidden?: Hidden;
}

export { Shelf as Store };
class Shelf {
    #private;
    readonly size: number;
}

export function open(): Observable<unknown>;
function open(options: Options): Observable<string>;

// Not exported, but part of the above:

interface Hidden extends Readonly<Record<string, Deeper>> {
}

type Deeper = 'Options' | 1;
`);
  });

  it('leaves out the declarations that another entry exports', () => {
    const core = surfaces.idsOf('index.d.ts');
    const again = 'export const again: (options: Options) => void;\n';
    expect(surfaces.surfaceOf('edge/index.d.ts', core)).toBe(again);
    expect(surfaces.surfaceOf('edge/index.d.ts')).toContain('interface Hidden');
  });

  it('refuses an unknown form of declaration', () => {
    const odd = new Surfaces(() => 'export default class {}\n');
    expect(() => odd.surfaceOf('index.d.ts')).toThrow('unknown form of declaration');
  });
});

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
