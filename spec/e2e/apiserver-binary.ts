/**
 * Where the API server's binary comes from: built once from the Go modules in `apiserver/`, then kept by the
 * hash of its sources. The cache lies outside the clone, so that `npm ci` and a new clone find it again.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const sources = fileURLToPath(new URL('./apiserver/', import.meta.url));

/** Cache root: `RX_INFORMER_CACHE`, else `rx-informer` under `XDG_CACHE_HOME` (default `~/.cache`). */
function cacheRoot(): string {
  const { RX_INFORMER_CACHE, XDG_CACHE_HOME } = process.env;
  return RX_INFORMER_CACHE || join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'rx-informer');
}

/** Path of the binary for the sources as they are now; it may not exist yet. */
export function binaryPath(): string {
  const hash = createHash('sha256');
  for (const file of readdirSync(sources).sort()) {
    if (/\.go$|^go\.|^build\.sh$/.test(file)) {
      hash
        .update(`${file}\0`)
        .update(readFileSync(join(sources, file)))
        .update('\0');
    }
  }
  return join(cacheRoot(), 'test-apiserver', hash.digest('hex').slice(0, 16), 'test-apiserver');
}

/** The version of kube-apiserver that `apiserver/go.mod` names: `v1.36.3`. */
export function apiServerVersion(): string {
  const module = readFileSync(join(sources, 'go.mod'), 'utf8');
  return /k8s\.io\/kubernetes (v[0-9.]+)/.exec(module)?.[1] ?? 'of unknown version';
}

/** Builds the binary unless it is there. Rejects with one sentence when Go is missing or the build fails. */
export async function ensureBinary(): Promise<string> {
  const path = binaryPath();
  if (existsSync(path)) return path;
  if (spawnSync('go', ['version']).status !== 0) {
    throw new Error(
      'The end-to-end tests build a kube-apiserver and need Go 1.26 or newer in PATH (https://go.dev/dl), or a cluster named by KUBECONFIG_E2E.',
    );
  }
  mkdirSync(join(path, '..'), { recursive: true });
  process.stderr.write(
    `building kube-apiserver ${apiServerVersion()} (about 4 minutes the first time)…\n`,
  );
  const started = performance.now();
  // Two runs may build at once: each under its own name, and the last rename wins.
  const unfinished = `${path}.${process.pid}`;
  const code = await build(unfinished, started);
  if (code !== 0) {
    rmSync(unfinished, { force: true });
    throw new Error(
      `Building kube-apiserver failed: ${join(sources, 'build.sh')} exited with ${code}.`,
    );
  }
  renameSync(unfinished, path);
  process.stderr.write(`built ${path} in ${seconds(started)} s\n`);
  return path;
}

function build(out: string, started: number): Promise<number | null> {
  const child = spawn(join(sources, 'build.sh'), {
    env: { ...process.env, OUT: out },
    // What go prints (downloads, errors) is progress too; stdout stays clean for the caller.
    stdio: ['ignore', 2, 2],
  });
  const tick = setInterval(
    () => process.stderr.write(`still building kube-apiserver, ${seconds(started)} s\n`),
    30_000,
  );
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  }).finally(() => clearInterval(tick)) as Promise<number | null>;
}

function seconds(since: number): string {
  return ((performance.now() - since) / 1000).toFixed(0);
}
