/** Builds the API server's binary from the Go modules in `apiserver/`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuiltBinary, builtBinaryPath, ensureBuiltBinary } from '../support/built-binary.ts';

const sources = fileURLToPath(new URL('./apiserver/', import.meta.url));

function binary(): BuiltBinary {
  return {
    name: 'test-apiserver',
    sources,
    what: `kube-apiserver ${apiServerVersion()}`,
    takes: '4 minutes',
    needsCompiler:
      'The end-to-end tests build a kube-apiserver and need Go 1.26 or newer in PATH (https://go.dev/dl), or a cluster named by KUBECONFIG_E2E.',
  };
}

/** The path of the binary for the current sources. The file may not exist yet. */
export function binaryPath(): string {
  return builtBinaryPath(binary());
}

/** The version of kube-apiserver in `apiserver/go.mod`, for example `v1.36.3`. */
export function apiServerVersion(): string {
  const module = readFileSync(join(sources, 'go.mod'), 'utf8');
  return /k8s\.io\/kubernetes (v[0-9.]+)/.exec(module)?.[1] ?? 'of unknown version';
}

/** Builds the binary unless it is cached. Rejects with one sentence if Go is missing or the build fails. */
export function ensureBinary(): Promise<string> {
  return ensureBuiltBinary(binary());
}
