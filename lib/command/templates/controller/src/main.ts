/** The program: reads the kubeconfig, or the account of its pod, and runs the controller until it is told to end. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { hostname } from 'node:os';
import { clientFromKubeConfig } from 'rx-informer/node';
import { type Running, startController } from './controller.ts';

const log = (line: string) => console.log(`${new Date().toISOString()} ${line}`);

let running: Running | undefined;
let healthy = true;
/** A process that waits for the lead (`standby`) is ready, too; otherwise a rollout would not end. */
const probes = createServer(({ url }, response) => {
  const { synced = false, phase = 'starting' } = running?.controller.status ?? {};
  const isWell = url === '/healthz' ? healthy : url === '/readyz' && synced;
  response.writeHead(isWell ? 200 : 503).end(`${isWell ? 'ok' : 'not ok'}: ${phase}\n`);
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
const { controller, stop } = startController(client, { identity, log });
running = { controller, stop };
const following = controller.healthy$.subscribe((now) => {
  healthy = now;
});

async function end() {
  following.unsubscribe();
  await stop();
  await client.close();
  probes.close();
  log('ended');
}
// A second signal ends the process immediately.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void end());
