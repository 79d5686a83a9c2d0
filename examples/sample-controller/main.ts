/**
 * A controller modelled on Kubernetes' sample-controller. On a cluster, with any number of processes:
 *
 *     node --conditions=rx-informer-source examples/sample-controller/main.ts --kubeconfig ~/.kube/config
 *
 * Without a cluster it runs a demo on a fake API server:
 *
 *     node --conditions=rx-informer-source examples/sample-controller/main.ts --embedded
 *
 * Read foo.ts, crd.ts, reconcile.ts and sample-controller.ts, in this order.
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { KubeClient } from 'rx-informer';
import { installFoo } from './crd.ts';
import { openDemoCluster } from './demo.ts';
import { startSampleController } from './sample-controller.ts';

interface Arguments {
  readonly embedded?: boolean;
  readonly kubeconfig?: string;
  readonly namespace?: string;
  readonly leaseNamespace: string;
  readonly identity: string;
  readonly workers: number;
  readonly qps: number;
  readonly leaseDuration: number;
  readonly renewDeadline: number;
  readonly retryPeriod: number;
}

function integer(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('It must be an integer.');
  return Number(text);
}

const command = new Command('main.ts')
  .description('Keeps a Deployment for each Foo.')
  .addOption(new Option('--embedded', 'run a demo on a fake API server').conflicts('kubeconfig'))
  .option('--kubeconfig <file>', 'kubeconfig of the cluster (default: the one that kubectl uses)')
  .option('--namespace <name>', 'namespace of the Foos (default: all namespaces)')
  .option('--lease-namespace <name>', 'namespace of the Lease', 'default')
  .option(
    '--identity <name>',
    'identity of this process in the election',
    `${hostname()}-${randomUUID().slice(0, 8)}`,
  )
  .option('--workers <number>', 'Foos that are reconciled concurrently', integer, 2)
  .option('--qps <number>', 'requests per second; 0: no limit', integer, 50)
  .option(
    '--lease-duration <ms>',
    'time after which a lease that is not renewed expires',
    integer,
    15_000,
  )
  .option(
    '--renew-deadline <ms>',
    'time after which a leader that cannot renew stops leading',
    integer,
    10_000,
  )
  .option('--retry-period <ms>', 'time between two renewals', integer, 2_000);

const options = command.parse().opts<Arguments>();
const log = (line: string) => {
  process.stdout.write(`${line}\n`);
};
const settings = {
  identity: options.identity,
  leaseNamespace: options.leaseNamespace,
  workers: options.workers,
  leaseDurationMs: options.leaseDuration,
  renewDeadlineMs: options.renewDeadline,
  retryPeriodMs: options.retryPeriod,
  log,
  ...(options.namespace === undefined ? {} : { namespace: options.namespace }),
};

if (options.embedded) {
  const cluster = openDemoCluster();
  await installFoo(cluster.client);
  const sample = startSampleController(cluster.client, settings);
  await cluster.play(log);
  await sample.stop();
  await cluster.close();
} else {
  const client = await openCluster();
  if (client !== undefined) runOn(client);
}

/** Opens the cluster of the kubeconfig and installs the resource. Prints a sentence if that is not possible. */
async function openCluster(): Promise<KubeClient | undefined> {
  // Loaded here because loading takes half a second, which the demo does not need.
  const { clientFromKubeConfig } = await import('rx-informer/node');
  const { kubeconfig: file, qps } = options;
  let client: KubeClient | undefined;
  try {
    client = await clientFromKubeConfig({ qps, ...(file === undefined ? {} : { file }) });
    await installFoo(client);
    return client;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    process.stderr.write(
      `The sample controller cannot use the cluster. ${why}\nAdd --embedded to run a demo without a cluster.\n`,
    );
    process.exitCode = 1;
    await client?.close();
    return undefined;
  }
}

function runOn(client: KubeClient): void {
  const sample = startSampleController(client, settings);
  const stop = () => {
    // A second Ctrl-C ends the process immediately.
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, stop);
    void sample
      .stop()
      .then(() => client.close())
      .then(() => log('stopped'));
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);
}
