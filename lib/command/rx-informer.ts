#!/usr/bin/env node
/// <reference types="node" />
/** The executable `rx-informer`: connects `runCommand` to the process. */
import { runCommand } from './command.ts';

process.exitCode = await runCommand(process.argv.slice(2), {
  input: process.stdin,
  out: (text) => process.stdout.write(text),
  error: (text) => process.stderr.write(text),
  ended() {
    const controller = new AbortController();
    // `once`: a second signal ends the process at once.
    for (const name of ['SIGTERM', 'SIGINT'] as const) {
      process.once(name, () => controller.abort(name));
    }
    return controller.signal;
  },
});
// A connection that cannot be closed, such as one to a server that never answers, does not keep a failed process.
if (process.exitCode !== 0) setTimeout(() => process.exit(), 1_000).unref();
