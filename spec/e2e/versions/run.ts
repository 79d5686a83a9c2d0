/**
 * Runs a part of the end-to-end suite with every version of Kubernetes in `spec/e2e/apiserver`, one after the other.
 * Builds the servers that are not cached, four minutes each on two cores.
 *
 *   npm run test:versions -- [--only 1.36,1.37] [--whole] [--write]
 *
 * `--whole` runs the complete suite, `--write` writes docs/reference/kubernetes-versions.md. Exits with 1 if a test fails.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { kubernetesVersions } from '../apiserver-binary.ts';

/** What a version can change: how the server answers, and how informers and clients follow it. */
const CORE = [
  'versions/facts.night',
  'conformance.e2e',
  'shards.e2e',
  'compressed-streams.e2e',
  'lister-watchers.e2e',
  'pipe.e2e',
  'pipe-pages.e2e',
  'projections.e2e',
  'clients.e2e',
];

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: kubernetesVersions.join(',') },
    whole: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});

interface Outcome {
  readonly version: string;
  /** The last line of the suite: `N passed, N failed`. */
  readonly result: string;
  readonly seconds: number;
  readonly code: number | null;
}

async function run(version: string): Promise<Outcome> {
  const began = performance.now();
  const files = values.whole ? [] : CORE.map((name) => `spec/e2e/${name}.ts`);
  const config = ['--config', 'spec/e2e/vitest.config.ts'];
  const child = spawn('node_modules/.bin/vitest', ['run', ...config, ...files], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      KUBERNETES_E2E: version,
      ...(values.write ? { KUBERNETES_FACTS: 'write' } : {}),
    },
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    process.stdout.write(chunk);
    text += chunk;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  const result = /^\d+ passed, .*$/m.exec(text)?.[0] ?? 'the suite did not end';
  return { version, result, seconds: Math.round((performance.now() - began) / 1000), code };
}

const outcomes: Outcome[] = [];
for (const version of values.only.split(',')) outcomes.push(await run(version));
for (const { version, result, seconds } of outcomes) {
  process.stdout.write(`Kubernetes ${version}: ${result}, ${seconds} s\n`);
}
process.exitCode = outcomes.some(({ code }) => code !== 0) ? 1 : 0;
