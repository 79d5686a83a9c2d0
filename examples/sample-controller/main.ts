/**
 * A controller in the manner of Kubernetes' sample-controller. On a cluster, with as many processes as you like:
 *
 *     node --conditions=rx-informer-source examples/sample-controller/main.ts --kubeconfig ~/.kube/config
 *
 * Without one it plays a short story on a fake API server:
 *
 *     node --conditions=rx-informer-source examples/sample-controller/main.ts --embedded
 *
 * Read foo.ts, crd.ts, reconcile.ts and sample-controller.ts, in this order.
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { Command, InvalidArgumentError, Option } from 'commander';
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

function whole(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

const command = new Command('main.ts')
  .description('Keeps a Deployment for each Foo.')
  .addOption(new Option('--embedded', 'play a story on a fake API server').conflicts('kubeconfig'))
  .option('--kubeconfig <file>', 'kubeconfig of the cluster (default: as kubectl finds it)')
  .option('--namespace <name>', 'where the Foos are (default: everywhere)')
  .option('--lease-namespace <name>', 'where the Lease is', 'default')
  .option('--identity <name>', 'who this process is', `${hostname()}-${randomUUID().slice(0, 8)}`)
  .option('--workers <number>', 'Foos at once', whole, 2)
  .option('--qps <number>', 'requests a second; 0: no limit', whole, 50)
  .option('--lease-duration <ms>', 'a lease that is not renewed ends after', whole, 15_000)
  .option('--renew-deadline <ms>', 'a leader that cannot renew gives up after', whole, 10_000)
  .option('--retry-period <ms>', 'between renewals', whole, 2_000);

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
  // Loaded late: reading kubeconfigs takes half a second that the story does not need.
  const { clientFromKubeConfig } = await import('rx-informer/node');
  const { kubeconfig: file, qps } = options;
  const client = await clientFromKubeConfig({ qps, ...(file === undefined ? {} : { file }) });
  await installFoo(client);
  const sample = startSampleController(client, settings);
  const stop = () => {
    // A second Ctrl-C does what it always does.
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, stop);
    void sample
      .stop()
      .then(() => client.close())
      .then(() => log('stopped'));
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);
}
