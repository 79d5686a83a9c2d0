/**
 * Binaries that tests build from Go modules of this repository: built once, then kept by the hash of their
 * sources. The cache lies outside the clone, so that `npm ci` and a new clone find it again.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** A Go module with a `build.sh` that builds into `$OUT`. */
export interface GoBinary {
  /** Names the binary and its folder in the cache. */
  readonly name: string;
  /** The folder of the module. */
  readonly sources: string;
  /** What is built, and how long that takes the first time, in words. */
  readonly what: string;
  readonly takes: string;
  /** Said where Go is missing: who needs it, and what else would do. */
  readonly needsGo: string;
}

/** Cache root: `RX_INFORMER_CACHE`, else `rx-informer` under `XDG_CACHE_HOME` (default `~/.cache`). */
function cacheRoot(): string {
  const { RX_INFORMER_CACHE, XDG_CACHE_HOME } = process.env;
  return RX_INFORMER_CACHE || join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'rx-informer');
}

/** Path of the binary for the sources as they are now; it may not exist yet. */
export function goBinaryPath({ name, sources }: GoBinary): string {
  const hash = createHash('sha256');
  for (const file of readdirSync(sources).sort()) {
    if (/\.go$|^go\.|^build\.sh$/.test(file)) {
      hash
        .update(`${file}\0`)
        .update(readFileSync(join(sources, file)))
        .update('\0');
    }
  }
  return join(cacheRoot(), name, hash.digest('hex').slice(0, 16), name);
}

/** Builds the binary unless it is there. Rejects with one sentence when Go is missing or the build fails. */
export async function ensureGoBinary(binary: GoBinary): Promise<string> {
  const { sources, what, takes, needsGo } = binary;
  const path = goBinaryPath(binary);
  if (existsSync(path)) return path;
  if (spawnSync('go', ['version']).status !== 0) throw new Error(needsGo);
  mkdirSync(join(path, '..'), { recursive: true });
  process.stderr.write(`building ${what} (about ${takes} the first time)…\n`);
  const started = performance.now();
  // Two runs may build at once: each under its own name, and the last rename wins.
  const unfinished = `${path}.${process.pid}`;
  const code = await build(binary, unfinished, started);
  if (code !== 0) {
    rmSync(unfinished, { force: true });
    throw new Error(`Building ${what} failed: ${join(sources, 'build.sh')} exited with ${code}.`);
  }
  renameSync(unfinished, path);
  process.stderr.write(`built ${path} in ${seconds(started)} s\n`);
  return path;
}

function build({ sources, what }: GoBinary, out: string, started: number): Promise<number | null> {
  const child = spawn(join(sources, 'build.sh'), {
    env: { ...process.env, OUT: out },
    // What go prints (downloads, errors) is progress too; stdout stays clean for the caller.
    stdio: ['ignore', 2, 2],
  });
  const tick = setInterval(
    () => process.stderr.write(`still building ${what}, ${seconds(started)} s\n`),
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
