#!/usr/bin/env node
/// <reference types="node" />
/** The command `rx-informer` itself: the process around `runCommand`. */
import { runCommand } from './command.ts';

process.exitCode = await runCommand(process.argv.slice(2), {
  input: process.stdin,
  out: (text) => process.stdout.write(text),
  error: (text) => process.stderr.write(text),
});
