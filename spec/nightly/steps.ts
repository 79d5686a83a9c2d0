/** The long forms of the checks: what a night runs, with which counts, and how a failure is repeated. */

/** One step of the night. */
export interface Step {
  readonly name: string;
  readonly command: readonly string[];
  /**
   * How much the step runs: variables of its environment with their values of a complete night. A variable of the caller
   * with the same name replaces the value, and the page says so.
   */
  readonly counts: Readonly<Record<string, string>>;
  /** Arguments that depend on the counts. */
  readonly args?: (counts: Readonly<Record<string, string>>) => readonly string[];
  /** Lines of the output that belong on the page, besides that with the count of tests. */
  readonly figures?: RegExp;
  /** How to repeat one failure. */
  readonly repeat: string;
}

const npm = (script: string, ...args: string[]): readonly string[] =>
  args.length === 0 ? ['npm', 'run', script] : ['npm', 'run', script, '--', ...args];

/** The number of the day, as a seed: each night plays other lives and has other random values. */
const TODAY = String(Math.floor(Date.now() / 86_400_000));

/** All steps, the shorter ones first. */
export const NIGHT: readonly Step[] = [
  {
    name: 'site',
    command: npm('test:site'),
    counts: {},
    figures: /^\d+ pages and \d+ links .*/,
    repeat: '`npm run test:site`; `npm run docs` builds without a browser',
  },
  {
    name: 'packed',
    command: npm('test:packed'),
    counts: { PACKED_BUNDLERS: 'all' },
    repeat: '`PACKED_BUNDLERS=all npm run test:packed`',
  },
  {
    name: 'conformance',
    command: npm('test:conformance'),
    counts: {},
    figures: /^\w+: \d+ tests of all folders passed|^FAIL: .*/,
    repeat:
      '`npm run test:conformance -- --mode production FOLDER`, with the mode and the file of the log',
  },
  {
    name: 'slow',
    command: npm('test:slow'),
    counts: {},
    repeat: '`npm run test:slow -- FILE`, with the file of the log',
  },
  {
    name: 'pages',
    command: npm('test:browser'),
    counts: {},
    repeat: '`npm run test:browser -- FILE`, with the file of the log',
  },
  {
    name: 'servers',
    command: npm('test:e2e'),
    counts: {},
    repeat: '`npm run test:e2e -- FILE`, with the file of the log',
  },
  {
    name: 'jest',
    command: npm('test:jest'),
    counts: {},
    repeat: '`npm run test:jest`',
  },
  {
    name: 'projects',
    command: npm('test:projects'),
    counts: {},
    repeat: '`npm run test:projects`',
  },
  {
    name: 'runtimes',
    command: npm('test:runtimes'),
    counts: {},
    figures: /^(Node|Bun|Deno): \d+ tests .*/,
    repeat:
      '`npm run install:runtimes`, then `npm run test:runtimes -- -t "in Bun"`; known failures are listed in `spec/runtimes/specs.runtime.ts`',
  },
  {
    name: 'pod',
    command: npm('bench', 'pod'),
    counts: {},
    figures: /^pod: .*/,
    repeat: '`npm run bench -- pod`',
  },
  {
    name: 'next',
    command: npm('test:next'),
    counts: {},
    repeat: '`npm run test:next`',
  },
  {
    name: 'measured',
    command: npm('test:night'),
    counts: {},
    figures: /^metrics: .*/,
    repeat: '`npm run test:night -- FILE`, with the file of the log',
  },
  {
    name: 'fuzz',
    command: npm('test:fuzz'),
    counts: { FUZZ_SEEDS: '100000' },
    figures: /^\d+ chains in .*/,
    repeat: '`FUZZ_SEED=… npm run test:fuzz`, with the seed of the log',
  },
  {
    name: 'histories',
    command: npm('test:histories'),
    counts: {
      RING_SEEDS: '5000',
      RIGHTS_SEEDS: '500',
      MOVE_SEEDS: '1000',
      TABS_SEEDS: '300',
      AUDIT_SEEDS: '20',
      NATS_SEEDS: '1000',
      PERSIST_SEEDS: '600',
      INDEXED_DB_SEEDS: '1200',
      CRASH_SEEDS: '24',
      PAGE_LIVES: '20000',
      PAGE_SEED: TODAY,
      WORKER_LIVES: '20000',
    },
    repeat: 'the log names the seed and the command that plays it again',
  },
  {
    name: 'models',
    command: npm(
      'test:slow',
      ...['spec/models/informer-life.spec.ts', 'spec/models/sharded-informer.spec.ts'],
    ),
    counts: { LIFE_RUNS: '10000', SHARD_SEEDS: '200' },
    repeat:
      '`SHARD_SEED=7 npm run test:slow -- spec/models/sharded-informer.spec.ts`, or the seed and path of the log as parameters of `fc.assert`',
  },
  {
    name: 'faults',
    command: npm('test:faults'),
    counts: { FAULT_SEEDS: '10000' },
    figures: /^share \d+ of \d+: .*|^\d+ seeds in .*/,
    repeat: '`FAULT_SEED=… npm run test:faults`, with the seed of the log',
  },
  {
    name: 'queries',
    command: npm('test:queries'),
    counts: { QUERY_EVENTS: '10000000' },
    figures: /^share \d+ of \d+, seed \d+: \d+ events in \d+ s/,
    repeat:
      '`QUERY_SEED=… QUERY_PATH=… npm run test:queries`, with the seed and the path of the log',
  },
  {
    name: 'rxjs-8',
    command: npm('test:rxjs-8'),
    counts: {},
    figures: /^RxJS 8: .*|^FAIL .*/,
    repeat: '`npm run test:rxjs-8`',
  },
  {
    name: 'newest-node',
    command: npm('test:newest-node'),
    counts: { RANDOM_SEED: TODAY },
    repeat:
      '`RANDOM_SEED=… npm run test:newest-node -- FILE`, with the seed and the file of the log',
  },
  {
    name: 'nats',
    command: npm('test:nats'),
    counts: { NATS_SEEDS: '20' },
    repeat: '`NATS_SEED=… npm run test:nats`, with the seed of the log',
  },
  {
    name: 'nats-scale',
    command: npm('test:nats-scale'),
    counts: { USER_SERVER_KILLS: '20', USER_SERVER_SEED: TODAY },
    figures: /^figures: .*/,
    repeat:
      '`USER_SERVER_SEED=… npm run test:nats-scale -- spec/nats/….night.ts`, with the seed and the file of the log',
  },
  {
    name: 'oracle',
    command: npm('test:oracle'),
    counts: { ORACLE_SEEDS: '1000' },
    repeat: '`ORACLE_SEED=… npm run test:oracle`, with the seed of the log',
  },
  {
    name: 'rights',
    command: npm('test:e2e', 'spec/e2e/user-rights.e2e.ts', '--testTimeout=7200000'),
    // 768 comparisons each.
    counts: { REAL_RIGHTS_SEEDS: '30' },
    figures: /^figures: .*/,
    repeat: '`REAL_RIGHTS_SEED=… npm run test:e2e -- user-rights`, with the seed of the log',
  },
  {
    name: 'e2e',
    command: npm('test:e2e-night'),
    counts: { RING_FOOS: '5000', RING_STOPS: '100' },
    figures: /^figures: .*/,
    repeat:
      '`npm run test:e2e-night -- spec/e2e/….night.ts` with the file of the log and the same counts',
  },
  {
    name: 'sample controller',
    command: npm('test:e2e', 'spec/e2e/sample-controller.e2e.ts'),
    counts: { SAMPLE_FOOS: '500' },
    repeat: '`SAMPLE_FOOS=500 npm run test:e2e -- spec/e2e/sample-controller.e2e.ts`',
  },
  {
    name: 'browser',
    command: npm('test:browser-night'),
    counts: { LOAD_SECONDS: '60' },
    repeat: '`npm run test:browser-night -- spec/browser/….night.ts`, with the file of the log',
  },
  {
    name: 'kubernetes',
    command: npm('test:versions'),
    counts: { KUBERNETES_VERSIONS: 'all' },
    args: ({ KUBERNETES_VERSIONS: only = 'all' }) => (only === 'all' ? [] : ['--only', only]),
    figures: /^Kubernetes 1\.\d+: .*/,
    repeat:
      '`KUBERNETES_E2E=1.… npm run test:e2e -- spec/e2e/….e2e.ts`, with the version and the file of the log',
  },
  {
    name: 'soak',
    command: npm('test:soak'),
    counts: { SOAK: 'long', SOAK_PHASES: 'virtual,full-speed,cycles,queries,dashboard' },
    args: ({ SOAK, SOAK_PHASES: only = '' }) => [
      ...(SOAK === 'short' ? ['--short'] : []),
      ...['--only', only],
    ],
    figures: /^WRONG: .*/,
    repeat: '`npm run test:soak -- --only PHASE`, with the phase of the log',
  },
  {
    name: 'bench',
    command: npm('bench'),
    counts: {},
    figures: /^\S.* × .*|^lost: .*/,
    repeat: '`npm run bench`',
  },
  {
    name: 'bench of queries',
    command: npm('bench', 'query'),
    counts: {},
    figures: /^ *budget .*/,
    repeat: '`npm run bench -- query --only SCENARIO`, with the scenario of the log',
  },
  {
    name: 'bench of users',
    command: npm('bench', 'users'),
    counts: {},
    figures: /^(?:\d+ users|first answers|server|for each user|from a write|\d+ compared|WRONG).*/,
    repeat: '`npm run bench -- users`, with more users: `-- users 100`',
  },
  {
    name: 'planted',
    command: npm('test:mutation', 'planted'),
    counts: {},
    figures: /^NOT NOTICED: .*|^\d+ of \d+ planted faults noticed/,
    repeat: '`npm run test:mutation -- planted FOLDER`, with the folder of lib of the log',
  },
  {
    name: 'mutation',
    command: npm('test:mutation'),
    counts: { MUTATION_SEED: '1', MUTATION_PER_STAGE: '30' },
    args: ({ MUTATION_SEED = '1', MUTATION_PER_STAGE = '30' }) => [
      ...['--seed', MUTATION_SEED],
      ...['--per-stage', MUTATION_PER_STAGE],
    ],
    figures: /^[a-z-]+: \d+ of \d+ noticed, .*/,
    repeat:
      '`npm run test:mutation -- --seed … --stages STAGE`; the log names each mutant that was missed',
  },
];
