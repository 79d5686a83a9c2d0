/** Starts the sample controller in processes of its own, so that tests can kill them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../../examples/sample-controller/main.ts', import.meta.url));

/** Lets a process print the time before each line, because lines of two processes may be read later and in any order. */
const STAMPED = [
  '--import',
  `data:text/javascript,${encodeURIComponent(
    'const write = process.stdout.write.bind(process.stdout);' +
      // biome-ignore lint/suspicious/noTemplateCurlyInString: It is a program.
      'process.stdout.write = (line) => write(`${Date.now()} ${line}`);',
  )}`,
];

/** A period in which a process reported that it leads. */
export interface Reign {
  readonly identity: string;
  readonly fromMs: number;
  toMs: number;
}

/** A process of the sample controller. */
export interface SampleProcess {
  readonly identity: string;
  readonly leads: boolean;
  readonly lines: readonly string[];
  readonly errors: string;
  /** Kills the process without a shutdown. */
  kill(): Promise<void>;
  /** Ends the process as Kubernetes ends a pod. Resolves to the exit code. */
  end(): Promise<number | null>;
}

/** Starts a process, and adds each of its periods as leader to `reigns`. */
export function startSample(
  identity: string,
  options: {
    readonly kubeconfig: string;
    readonly namespace: string;
    readonly reigns: Reign[];
  },
): SampleProcess {
  const { kubeconfig, namespace, reigns } = options;
  const flags = ['--conditions=rx-informer-source', '--disable-warning=ExperimentalWarning'];
  const args = {
    kubeconfig,
    namespace,
    identity,
    'lease-namespace': namespace,
    workers: 2,
    qps: 0,
    // On a busy machine a renewal takes 2 s, and a write that was sent in time arrives seconds later.
    'lease-duration': 12_000,
    'renew-deadline': 8_000,
    'retry-period': 400,
  };
  const given = Object.entries(args).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const child: ChildProcess = spawn(process.execPath, [...flags, ...STAMPED, main, ...given], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const gone = once(child, 'close').then(([code]) => code as number | null);
  const lines: string[] = [];
  let errors = '';
  let reign: Reign | undefined;
  const over = (atMs: number) => {
    if (reign !== undefined) reign.toMs = atMs;
    reign = undefined;
  };
  if (child.stdout === null || child.stderr === null) throw new Error('the sample has no output');
  createInterface({ input: child.stdout }).on('line', (stamped) => {
    const [stamp, ...words] = stamped.split(' ');
    const line = words.join(' ');
    lines.push(line);
    if (line === 'not leading') over(Number(stamp));
    if (line !== 'leading') return;
    reign = { identity, fromMs: Number(stamp), toMs: Number.POSITIVE_INFINITY };
    reigns.push(reign);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  return {
    identity,
    lines,
    get errors() {
      return errors;
    },
    get leads() {
      return reign !== undefined;
    },
    async kill() {
      child.kill('SIGKILL');
      over(Date.now());
      await gone;
    },
    end() {
      child.kill('SIGTERM');
      return gone;
    },
  };
}
