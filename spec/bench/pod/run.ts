/**
 * Compares a client in a pod, without `@kubernetes/client-node`, with a program that has only rxjs and undici and sends the same
 * request. Both run from an installation of the packed library, in turns, each time in a process of its own. Prints medians, and
 * exits with 1 if the client costs more than it may:
 *
 *   npm run bench -- pod [--rounds 9] [--package FILE.tgz --beside @kubernetes/client-node@2]
 *
 * With `--package` another package file is measured, with another package beside it.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { testOnlyCa } from '../../node/test-only-certificates.ts';
import { installIn, mustRun, packInto, root } from '../../packed/consumer.ts';
import { guardedCluster } from '../../packed/guarded-cluster.ts';
import { podModule } from '../../support/pod.ts';
import { spreadOf } from '../report.ts';
import { type Cost, PROGRAMS } from './programs.ts';

const MOST_CPU_RATIO = 1.35;
const MOST_RSS_MB = 12;

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: {
    rounds: { type: 'string', default: '9' },
    package: { type: 'string' },
    beside: { type: 'string' },
  },
});
const folder = mkdtempSync(join(tmpdir(), 'bench-pod-'));

async function built(): Promise<string> {
  await mustRun('npm', ['run', 'build'], root);
  return join(folder, (await packInto(folder)).filename);
}

/** Installs the library, and writes the programs and the files of the pod. */
async function prepare(port: number): Promise<void> {
  const tarball = values.package === undefined ? await built() : resolve(values.package);
  const [, name, range] = /^(.+)@(.+)$/.exec(values.beside ?? '') ?? [];
  const beside = name !== undefined && range !== undefined ? { [name]: range } : {};
  await installIn(folder, tarball, { rxjs: '^7.8.2', undici: '^8.12.4', ...beside });
  const account = join(folder, 'account');
  mkdirSync(account);
  writeFileSync(join(account, 'token'), 'of-the-pod');
  writeFileSync(join(account, 'ca.crt'), testOnlyCa);
  writeFileSync(join(folder, 'pod.mjs'), podModule(account, port));
  for (const [program, text] of Object.entries(PROGRAMS)) {
    writeFileSync(join(folder, `${program}.mjs`), text);
  }
}

type Name = keyof typeof PROGRAMS;

async function cost(name: Name): Promise<Cost> {
  const pod = pathToFileURL(join(folder, 'pod.mjs')).href;
  const { stdout } = await mustRun(
    process.execPath,
    ['--import', pod, join(folder, `${name}.mjs`)],
    folder,
  );
  return JSON.parse(stdout);
}

try {
  await using cluster = await guardedCluster('http2');
  cluster.tokens.add('of-the-pod');
  await prepare(cluster.port);
  const costs: Record<Name, Cost[]> = { floor: [], ours: [] };
  // The first run of each fills the caches of the disk.
  for (const name of ['floor', 'ours'] as const) await cost(name);
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const name of ['floor', 'ours'] as const) costs[name].push(await cost(name));
  }
  const median = (name: Name, figure: keyof Cost) =>
    spreadOf(costs[name].map((each) => each[figure])).median;
  console.log('| program | CPU, ms | RSS, MB |\n|---|---|---|');
  for (const name of ['floor', 'ours'] as const) {
    const { least, greatest } = spreadOf(costs[name].map(({ rssMb }) => rssMb));
    const rss = `${median(name, 'rssMb').toFixed(1)} (${least.toFixed(1)} to ${greatest.toFixed(1)})`;
    console.log(`| ${name} | ${median(name, 'cpuMs').toFixed(0)} | ${rss} |`);
  }
  // Of each turn, because other programs slow down both halves of it.
  const ratios = costs.ours.map(({ cpuMs }, turn) => cpuMs / (costs.floor[turn]?.cpuMs ?? 0));
  const ratio = spreadOf(ratios).median;
  const more = median('ours', 'rssMb') - median('floor', 'rssMb');
  const isMet = ratio <= MOST_CPU_RATIO && more <= MOST_RSS_MB;
  console.log(
    `pod: CPU ${ratio.toFixed(2)} × (at most ${MOST_CPU_RATIO}), RSS +${more.toFixed(1)} MB (at most ${MOST_RSS_MB}): ${isMet ? 'met' : 'MISSED'}`,
  );
  if (!isMet) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
