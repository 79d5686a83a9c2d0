/** The programs that are compared: each sends one request with the service account of a pod, and prints what it has cost. */

const FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';

/** What a program prints: CPU in milliseconds, and resident memory in MB. */
export interface Cost {
  readonly cpuMs: number;
  readonly rssMb: number;
}

const COST = `
const { user, system } = process.cpuUsage();
console.log(JSON.stringify({ cpuMs: (user + system) / 1e3, rssMb: process.memoryUsage.rss() / 1e6 }));`;

/** Only rxjs and undici, with the files of the service account. */
const floor = `
import { readFile } from 'node:fs/promises';
import { defer, firstValueFrom } from 'rxjs';
import { Agent, request } from 'undici';
const [token, ca] = await Promise.all(
  ['token', 'ca.crt'].map((name) => readFile(${JSON.stringify(`${FOLDER}/`)} + name, 'utf8')),
);
const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env;
const dispatcher = new Agent({ allowH2: true, connect: { ca } });
const headers = { authorization: 'Bearer ' + token };
const url = 'https://' + host + ':' + port + '/version';
const sent = defer(async () => (await request(url, { dispatcher, headers })).body.json());
const { gitVersion } = await firstValueFrom(sent);
if (gitVersion === undefined) throw new Error('no version');
${COST}
await dispatcher.close();`;

const ours = `
import { clientFromKubeConfig } from 'rx-informer/node';
const client = await clientFromKubeConfig();
const { gitVersion } = await client.request({ path: '/version' });
if (gitVersion === undefined) throw new Error('no version');
${COST}
await client.close();`;

/** The programs by name. */
export const PROGRAMS = { floor, ours } as const;
