/**
 * Builds binaries for tests from the Go modules and the crates of this repository, and caches them by the hash of their
 * sources. The cache lies outside the clone, so that `npm ci` and a new clone find it again.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** A Go module or a crate with a `build.sh` that builds into `$OUT`. */
export interface BuiltBinary {
  /** The name of the binary and of its folder in the cache. */
  readonly name: string;
  /** The compiler, and the argument with which it prints its version. Default: `go version`. */
  readonly compiler?: readonly [string, string];
  /** The folder of the module or of the crate. */
  readonly sources: string;
  /** The file in `sources` that takes the place of its `go.mod`, without `.mod`. @defaultValue `go` */
  readonly modules?: string;
  /** The product of the build, and the duration of the first build, in words. */
  readonly what: string;
  readonly takes: string;
  /** The message if the compiler is missing: what needs it, and the alternative. */
  readonly needsCompiler: string;
}

/** The root of the cache: `RX_INFORMER_CACHE`, otherwise `rx-informer` in `XDG_CACHE_HOME` (default `~/.cache`). */
function cacheRoot(): string {
  const { RX_INFORMER_CACHE, XDG_CACHE_HOME } = process.env;
  return RX_INFORMER_CACHE || join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'rx-informer');
}

/** The path of the binary for the current sources. The file may not exist yet. */
export function builtBinaryPath({ name, sources, modules = 'go' }: BuiltBinary): string {
  const hash = createHash('sha256');
  const add = (file: string, from = file) => {
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(sources, from)))
      .update('\0');
  };
  for (const file of readdirSync(sources).sort()) {
    if (/^go\.(mod|sum)$/.test(file)) add(file, file.replace('go', modules));
    else if (/\.(go|rs)$|^Cargo\.toml$|^build\.sh$/.test(file)) add(file);
  }
  return join(cacheRoot(), name, hash.digest('hex').slice(0, 16), name);
}

/** Builds the binary unless it is cached. Rejects with one sentence if the compiler is missing or the build fails. */
export async function ensureBuiltBinary(binary: BuiltBinary): Promise<string> {
  const { sources, what, takes, needsCompiler, compiler = ['go', 'version'] } = binary;
  const path = builtBinaryPath(binary);
  if (existsSync(path)) return path;
  const [program, versionArgument] = compiler;
  if (spawnSync(program, [versionArgument]).status !== 0) throw new Error(needsCompiler);
  mkdirSync(join(path, '..'), { recursive: true });
  process.stderr.write(`building ${what} (about ${takes} the first time)…\n`);
  // Two runs may build concurrently. Each uses a name of its own, and the last rename counts.
  const unfinished = `${path}.${process.pid}`;
  const code = await build(binary, unfinished);
  if (code !== 0) {
    rmSync(unfinished, { force: true });
    throw new Error(`Building ${what} failed: ${join(sources, 'build.sh')} exited with ${code}.`);
  }
  renameSync(unfinished, path);
  process.stderr.write(`built ${path}\n`);
  return path;
}

function build(
  { sources, modules = 'go', what }: BuiltBinary,
  out: string,
): Promise<number | null> {
  const child = spawn(join(sources, 'build.sh'), {
    env: { ...process.env, OUT: out, MODFILE: `${modules}.mod` },
    // The output of the compiler (downloads, errors) goes to stderr, so that stdout stays clean for the caller.
    stdio: ['ignore', 2, 2],
  });
  const everyS = 30;
  let passedS = 0;
  const tick = setInterval(() => {
    passedS += everyS;
    process.stderr.write(`still building ${what}, ${passedS} s\n`);
  }, everyS * 1000);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  }).finally(() => clearInterval(tick)) as Promise<number | null>;
}
