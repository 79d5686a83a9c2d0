/** Builds client-go from the Go module in `client-go/`. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ensureBuiltBinary } from '../support/built-binary.ts';

const sources = fileURLToPath(new URL('./client-go/', import.meta.url));

/** The version of client-go in `client-go/go.mod`, for example `v0.37.2`. */
export function clientGoVersion(): string {
  const module = readFileSync(`${sources}go.mod`, 'utf8');
  return /k8s\.io\/client-go (v[0-9.]+)/.exec(module)?.[1] ?? 'of unknown version';
}

/** The folder of the Go module. */
export const oracleSources: string = sources;

/** Builds the binary unless it is cached. Rejects with one sentence if Go is missing or the build fails. */
export function ensureOracle(): Promise<string> {
  return ensureBuiltBinary({
    name: 'client-go-oracle',
    sources,
    what: `client-go ${clientGoVersion()}`,
    takes: '2 minutes',
    needsCompiler:
      'The oracle runs client-go beside rx-informer and needs Go 1.26 or newer in PATH (https://go.dev/dl).',
  });
}
