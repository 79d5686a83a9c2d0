/** The steps of the night: they run what the gate leaves out, and set each variable that a suite reads. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { LEFT_TO_NIGHT } from '../support/gate.ts';
import { NIGHT } from './steps.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const textOf = (file: string) => readFileSync(`${root}${file}`, 'utf8');

it('whatever the gate leaves to the night stands in the table of reliability.md, and nothing else does', () => {
  const rows = textOf('docs/internals/reliability.md').matchAll(/^\| `(spec\/[^`]*)`/gm);
  const partly = globSync('spec/**/*.{spec,e2e,browser,nats,packed,oracle}.{ts,tsx}', {
    cwd: root,
  }).filter((file) => /\bisGate\b/.test(textOf(file)) && file !== 'spec/nightly/steps.spec.ts');
  expect(partly.length).toBeGreaterThan(3);
  const expected = [...new Set([...LEFT_TO_NIGHT, ...partly])];
  expect([...rows].map(([, file]) => file).sort()).toEqual(expected.sort());
  expect(LEFT_TO_NIGHT.filter((file) => !existsSync(`${root}${file}`))).toEqual([]);
});

it('the night runs every suite of which the gate leaves something out', () => {
  const steps = NIGHT.map(({ command }) => command.join(' '));
  for (const suite of ['slow', 'browser', 'e2e', 'nats', 'conformance']) {
    expect(steps).toContain(`npm run test:${suite}`);
  }
});

/** Variables that no run sets, with the reason. */
const OTHERS: Readonly<Record<string, string>> = {
  CHROMIUM: 'where the browser is',
  HOME: 'where programs look for settings',
  KUBECONFIG: 'the cluster of a program under test',
  KUBECONFIG_E2E: 'a cluster in place of the one that is started',
  KUBERNETES_SERVICE_HOST: 'the pod of a program under test',
  KUBERNETES_SERVICE_PORT: 'the pod of a program under test',
  KUBERNETES_FACTS: 'set by `npm run test:versions -- --write`',
  MUTATION_COVERED: 'set by spec/mutation/run-specs.ts',
  MUTATION_REQUEST: 'set by spec/mutation/run-specs.ts',
  NODE_ENV: 'read by code under test',
  PACKED_NODE_ENV: 'set by spec/packed/conformance/run.ts',
  ROUND_SEEDS: 'the gate plays as many as the night would',
  RX_INFORMER_CACHE: 'where built servers are kept',
  XDG_CACHE_HOME: 'where built servers are kept',
};

/** Set the variables of the contestants that they start. */
const BENCHES = ['spec/bench/contestants/contestants.ts'];

/** The variables that a file reads. Those that it writes are for code under test. */
function variablesOf(text: string): readonly string[] {
  const names = [...text.matchAll(/\bprocess\.env(?:\.|\[')([A-Z][A-Z_\d]+)\b(?!'?\]? =[^=])/g)];
  const campaigns = [...text.matchAll(/seedsOf\('([A-Z_]+)'|\bname: '([A-Z_]+)', seeds:/g)];
  const lists = [...text.matchAll(/\{([^{}]*)\} = process\.env;/g)];
  return [
    ...names.map(([, name = '']) => name),
    ...campaigns.map(([, one, other]) => `${one ?? other}_SEEDS`),
    ...lists.flatMap(([, list = '']) =>
      [...list.matchAll(/(?<!: )\b[A-Z][A-Z_\d]+\b/g)].map(String),
    ),
  ];
}

it('each variable that a suite reads is set by a script, by the gate or by a step of the night, or repeats one failure', () => {
  const files = globSync('spec/**/*.{ts,tsx}', { cwd: root }).filter(
    (file) => !/node_modules|generated|^spec\/nightly\//.test(file),
  );
  const read = new Set(files.flatMap((file) => variablesOf(textOf(file))));
  expect(read.size).toBeGreaterThan(20);
  const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> };
  const night = NIGHT.flatMap(({ counts, repeat }) => [...Object.keys(counts), repeat]);
  const texts = [
    ...Object.values(scripts),
    textOf('.ci/run'),
    ...night,
    ...BENCHES.map(textOf),
  ].join(' ');
  const isSet = (name: string) => new RegExp(`\\b${name}\\b`).test(texts);
  expect([...read].filter((name) => !isSet(name) && !(name in OTHERS))).toEqual([]);
  expect(Object.keys(OTHERS).filter((name) => !read.has(name) || isSet(name))).toEqual([]);
  const counted = NIGHT.flatMap(({ counts, args }) => (args ? [] : Object.keys(counts)));
  expect(counted.filter((name) => !read.has(name))).toEqual([]);
});
