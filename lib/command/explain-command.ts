/// <reference types="node" />
/** `rx-informer explain`: prints the documentation of a code, or of what the message of an error names. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { similarNames } from '../client/similar-names.ts';
import { codeOf, codes } from '../diagnose/codes.ts';
import { declaredIn } from './declared-name.ts';
import { sectionOf } from './docs-section.ts';
import { type Command, type CommandStreams, UsageError } from './subcommand.ts';

const USAGE = `Usage: rx-informer explain <code or text>

Prints the documentation of a code: RX1, or the reason of an ApiError (Network), or the name of a finding of
rx-informer diagnose (held-back). Of the message of a TypeError, it prints that of the function that has refused
its arguments, and of the options that the message mentions: explain 'liveQuery: limit is -1; it must be …'.

  --list   prints all codes
  --help   show this help
`;

/** The folder of the package. This file is at another depth in the sources, in the modules and in the bundle. */
function packageFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'docs')) && folder !== dirname(folder)) folder = dirname(folder);
  return folder;
}

/** The folder with the declarations: that of the published package, or the sources. */
function declarationsFolder(): string {
  const sources = join(packageFolder(), 'lib');
  return existsSync(sources) ? sources : join(packageFolder(), 'dist', 'modules');
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
    throw new UsageError(
      'explain needs one code, or one text in quotes, for example RX1; see rx-informer explain --list',
    );
  }
  const entry = codeOf(asked);
  if (entry === undefined) {
    const declared = await declaredIn(declarationsFolder(), asked);
    if (declared !== undefined) {
      streams.out(`${declared}\n`);
      return;
    }
    const near = similarNames(
      asked,
      codes.flatMap(({ code, name }) => [code, name]),
    );
    const hint = near.length > 0 ? `did you mean ${near.join(' or ')}?` : 'see --list';
    throw new UsageError(
      `explain: ${JSON.stringify(asked)} is no code, and names no function or option; ${hint}`,
    );
  }
  const page = await readFile(join(packageFolder(), entry.page), 'utf8');
  const text = sectionOf(page, entry.code);
  streams.out(`${text ?? `${entry.code}: ${entry.name}`}\n\n${entry.page}\n`);
}

/** `rx-informer explain`. */
export const explainCommand: Command = { usage: USAGE, packages: () => [], run };
