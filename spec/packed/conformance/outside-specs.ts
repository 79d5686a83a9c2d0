/**
 * Which specs ask the library only by its public names, so that they run on the packed library, too. The others are listed in
 * `sources-only.txt`.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { isGate } from '../../support/gate.ts';
import { importsOf } from '../../support/imports.ts';

/** Imports that the compiler removes. */
const TYPE_IMPORTS = /^(?:import|export) type [^;]*;/gm;

/** The specs of these folders are about the repository: its texts, types, tools and examples. */
const ABOUT_THE_REPOSITORY =
  /^spec\/(?:[^/]+$|api|bench|browser|e2e|examples|frameworks|generated-examples|grafana|mutation|nightly|oracle|packed|release|site|types|walk|weight)\b/;

/** What a spec imports, directly or not. */
export interface Reached {
  /** The files of `spec`, the spec itself included. */
  readonly files: readonly string[];
  /** The names of packages. */
  readonly packages: readonly string[];
  /** The first file outside of `spec`; `undefined` if there is none. */
  readonly internal: string | undefined;
}

/** Follows the imports of a spec. Paths are relative to the root. */
export function reachedFrom(root: string, spec: string): Reached {
  const files = new Set([spec]);
  const packages = new Set<string>();
  let internal: string | undefined;
  for (const file of files) {
    const text = readFileSync(join(root, file), 'utf8').replace(TYPE_IMPORTS, '');
    for (const target of importsOf(text)) {
      const path = normalize(join(dirname(file), target));
      if (!target.startsWith('.')) packages.add(packageOf(target));
      else if (!path.startsWith('spec/')) internal ??= path;
      // The text of a spec may contain an import that is only an example.
      else if (existsSync(join(root, path))) files.add(path);
    }
  }
  return { files: [...files], packages: [...packages], internal };
}

/** `@scope/name/part` is a part of the package `@scope/name`. */
function packageOf(target: string): string {
  return target.split('/', target.startsWith('@') ? 2 : 1).join('/');
}

/** The specs that are about the library: of the offline suite and of NATS, sorted. */
export function librarySpecs(root: string): string[] {
  return globSync(['spec/**/*.spec.{ts,tsx}', 'spec/nats/*.nats.ts'], { cwd: root })
    .filter((file) => !ABOUT_THE_REPOSITORY.test(file))
    .sort();
}

/** The specs that only the sources can be asked, with the reason for those that import no internal file. */
export function sourcesOnly(root: string): ReadonlyMap<string, string> {
  const text = readFileSync(join(root, 'spec/packed/conformance/sources-only.txt'), 'utf8');
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const [spec = '', reason = ''] = line.split(': ', 2);
      return [spec, reason];
    }),
  );
}

/** The specs that run the examples of the documentation, which `extract-examples.ts` writes, and the numbered ones. */
const EXAMPLES = [
  'spec/examples/examples.spec.ts',
  'spec/generated-examples/docs.spec.ts',
  'spec/generated-examples/lib.spec.ts',
];

/** The specs that run on the packed library. */
export function outsideSpecs(root: string): string[] {
  const listed = sourcesOnly(root);
  return [...librarySpecs(root).filter((spec) => !listed.has(spec)), ...EXAMPLES];
}

/** Whether this run leaves a spec to the one on the packed library. In the gate the specs of NATS and the slow ones run once. */
export function leftToPacked(root: string): (file: string) => boolean {
  if (!isGate || process.env['PACKED_NODE_ENV'] !== undefined) return () => false;
  const packed = new Set(outsideSpecs(root));
  return (file) => packed.has(file);
}
