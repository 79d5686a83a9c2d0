/** The program: reads the kubeconfig, or the account of its pod, and runs the controller until it is told to end. */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { hostname } from 'node:os';
import { clientFromKubeConfig } from 'rx-informer/node';
import { startController } from './controller.ts';

const log = (line: string) => console.log(`${new Date().toISOString()} ${line}`);
const client = await clientFromKubeConfig();
const identity = `${hostname()}-${randomUUID().slice(0, 8)}`;
const { controller, stop } = startController(client, { identity, log });

let healthy = true;
const following = controller.healthy$.subscribe((now) => {
  healthy = now;
});
/** A process that waits for the lead (`standby`) is ready, too; otherwise a rollout would not end. */
const probes = createServer(({ url }, response) => {
  const { synced, phase } = controller.status;
  const isWell = url === '/healthz' ? healthy : url === '/readyz' && synced;
  response.writeHead(isWell ? 200 : 503).end(`${isWell ? 'ok' : 'not ok'}: ${phase}\n`);
});
probes.listen(Number(process.env['PORT'] ?? 8080));

async function end() {
  following.unsubscribe();
  await stop();
  await client.close();
  probes.close();
  log('ended');
}
// A second signal ends the process immediately.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void end());
