/** Starts the sample controller in processes of its own, so that tests can kill them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../../examples/sample-controller/main.ts', import.meta.url));

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

/** Starts a process, and adds its identity to `leaders` whenever it reports that it leads. */
export function startSample(
  identity: string,
  options: {
    readonly kubeconfig: string;
    readonly namespace: string;
    readonly leaders: string[];
  },
): SampleProcess {
  const { kubeconfig, namespace, leaders } = options;
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
  const child: ChildProcess = spawn(process.execPath, [...flags, main, ...given], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const gone = once(child, 'close').then(([code]) => code as number | null);
  const lines: string[] = [];
  let errors = '';
  let leads = false;
  if (child.stdout === null || child.stderr === null) throw new Error('the sample has no output');
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    if (line === 'not leading') leads = false;
    if (line !== 'leading') return;
    leads = true;
    leaders.push(identity);
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
      return leads;
    },
    async kill() {
      child.kill('SIGKILL');
      await gone;
      leads = false;
    },
    end() {
      child.kill('SIGTERM');
      return gone;
    },
  };
}
