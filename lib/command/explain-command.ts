/// <reference types="node" />
/** `rx-informer explain CODE`: prints the section of the documentation that belongs to a code. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { similarNames } from '../client/similar-names.ts';
import { codeOf, codes } from '../diagnose/codes.ts';
import { sectionOf } from './docs-section.ts';
import { type Command, type CommandStreams, UsageError } from './subcommand.ts';

const USAGE = `Usage: rx-informer explain <code>

Prints the documentation of a code: RX1, or the reason of an ApiError (Network), or the name of a finding of
rx-informer diagnose (held-back).

  --list   prints all codes
  --help   show this help
`;

/** Reads a page of the package. This file is at another depth in the sources, in the modules and in the bundle. */
function readPage(page: string): Promise<string> {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, page)) && folder !== dirname(folder)) folder = dirname(folder);
  return readFile(join(folder, page), 'utf8');
}

async function run(args: readonly string[], streams: CommandStreams): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { list: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  if (values.list) {
    streams.out(codes.map(({ code, name }) => `${code} ${name}\n`).join(''));
    return;
  }
  const [asked, ...more] = positionals;
  if (asked === undefined || more.length > 0) {
    throw new UsageError('explain needs one code, for example RX1; see rx-informer explain --list');
  }
  const entry = codeOf(asked);
  if (entry === undefined) {
    const near = similarNames(
      asked,
      codes.flatMap(({ code, name }) => [code, name]),
    );
    const hint = near.length > 0 ? `did you mean ${near.join(' or ')}?` : 'see --list';
    throw new UsageError(`explain: ${JSON.stringify(asked)} is no code; ${hint}`);
  }
  const text = sectionOf(await readPage(entry.page), entry.code);
  streams.out(`${text ?? `${entry.code}: ${entry.name}`}\n\n${entry.page}\n`);
}

/** `rx-informer explain`. */
export const explainCommand: Command = { usage: USAGE, run };
