/** The program: reads the kubeconfig, or the account of its pod, and runs the controller until it is told to end. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { hostname } from 'node:os';
import { liveness, readiness } from 'rx-informer';
import { clientFromKubeConfig } from 'rx-informer/node';
import { type Running, startController } from './controller.ts';

const log = (line: string) => console.log(`${new Date().toISOString()} ${line}`);

let running: Running | undefined;
/** A process that waits for the lead is ready, too. Whether the API server answers is no reason to restart. */
const probes = createServer(({ url }, response) => {
  const parts = running === undefined ? [] : [running.controller, ...running.informers];
  const { status, body } =
    url === '/healthz'
      ? liveness(...parts)
      : url === '/readyz' && running !== undefined
        ? readiness(...parts)
        : readiness(() => 'starting, or no path of a probe');
  response.writeHead(status).end(body);
});
const port = process.env['PORT'] ?? '8080';
// Before the controller starts: a process without probes must not take the lead.
try {
  await once(probes.listen(Number(port)), 'listening');
} catch (error) {
  console.error(`The probes cannot use port ${port}: set PORT to a free one. ${error}`);
  process.exit(1);
}

const client = await clientFromKubeConfig();
const identity = `${hostname()}-${randomUUID().slice(0, 8)}`;
const started = startController(client, { identity, log });
running = started;

async function end() {
  await started.stop();
  await client.close();
  probes.close();
  log('ended');
}
// A second signal ends the process immediately.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void end());
