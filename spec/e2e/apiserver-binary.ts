/**
 * Builds the API server's binary from the Go modules in `apiserver/`. `KUBERNETES_E2E=1.36` chooses another version of
 * Kubernetes than the default: one of `apiserver/versions/`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuiltBinary, ensureBuiltBinary } from '../support/built-binary.ts';

const sources = fileURLToPath(new URL('./apiserver/', import.meta.url));

const otherVersions = readdirSync(join(sources, 'versions')).flatMap((file) =>
  file.endsWith('.mod') ? [file.slice(0, -'.mod'.length)] : [],
);
const [defaultVersion = ''] = /\d+\.\d+/.exec(versionIn('go')) ?? [];

/** All minor versions that the tests can start, such as `1.37`, from the oldest to the newest. */
export const kubernetesVersions: readonly string[] = [...otherVersions, defaultVersion].sort();

/** The minor version that the tests start: 37 for 1.37. */
export const minor: number = Number(chosenVersion().slice('1.'.length));

/** The flags with which every version streams lists. Kubernetes 1.33 does not by default. */
export const streamingFlags: readonly string[] =
  minor < 34 ? ['--feature-gates=WatchList=true'] : [];

/** Whether the tests start the default version, for which the generated resources and the docs are. */
export const isDefaultVersion: boolean = chosenVersion() === defaultVersion;

function chosenVersion(): string {
  const chosen = process.env['KUBERNETES_E2E'] || defaultVersion;
  if (kubernetesVersions.includes(chosen)) return chosen;
  const known = kubernetesVersions.join(', ');
  throw new Error(`There is no Kubernetes ${chosen} for KUBERNETES_E2E. Choose one of: ${known}.`);
}

function versionIn(file: string): string {
  const text = readFileSync(join(sources, `${file}.mod`), 'utf8');
  return /k8s\.io\/kubernetes (v[0-9.]+)/.exec(text)?.[1] ?? 'of unknown version';
}

function binary(): BuiltBinary {
  const modules = isDefaultVersion ? 'go' : `versions/${chosenVersion()}`;
  return {
    name: 'test-apiserver',
    sources,
    modules,
    what: `kube-apiserver ${versionIn(modules)}`,
    takes: '4 minutes',
    needsCompiler:
      'The end-to-end tests build a kube-apiserver and need Go 1.26 or newer in PATH (https://go.dev/dl), or a cluster named by KUBECONFIG_E2E.',
  };
}

/** Builds the binary unless it is cached. Rejects with one sentence if Go is missing or the build fails. */
export function ensureBinary(): Promise<string> {
  return ensureBuiltBinary(binary());
}
