/**
 * Tests how the public surface of an entry is derived from declarations. `npm run check` compares the real surfaces.
 */
import { describe, expect, it } from 'vitest';
import { Surfaces } from './surface.ts';

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
