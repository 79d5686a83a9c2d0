/** The servers, plugins and texts around the programs of the runtimes. */
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pods } from 'rx-informer/resources';
import type { Response } from '../node/servers.ts';
import type { GuardedCluster } from '../packed/guarded-cluster.ts';

/** Names a Pod of the tests. */
export const place = (name: string): { namespace: string; name: string } => ({
  namespace: 'shop',
  name,
});

/** A server for programs, and its address. */
interface Control extends AsyncDisposable {
  readonly url: string;
}

/** A server whose paths change a cluster: `/stop`, `/heal`, `/create/NAME`, `/delete/NAME`. */
export async function controlOf({ server, stop }: GuardedCluster): Promise<Control> {
  let heal = () => {};
  const control = createServer(({ url = '' }, response) => {
    const [, what, name = ''] = url.split('/');
    if (what === 'stop') heal = stop();
    if (what === 'heal') heal();
    if (what === 'create') server.objects.create(pods, { metadata: place(name) });
    if (what === 'delete') server.objects.delete(pods, place(name));
    response.end();
  });
  await new Promise<void>((resolve) => control.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(control.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      control.closeAllConnections();
      control.close();
    },
  };
}

/** A plugin that prints credentials, as a script of the shell. */
export function plugin(folder: string, status: object): object {
  const apiVersion = 'client.authentication.k8s.io/v1';
  const answer = JSON.stringify({ apiVersion, kind: 'ExecCredential', status });
  const command = join(folder, 'plugin.sh');
  writeFileSync(command, `#!/bin/sh\ncat <<'END'\n${answer}\nEND\n`, { mode: 0o700 });
  return { apiVersion, command };
}

/** Ends a response before its last line in the way that the path of a log names. */
export function cutLog(path: string, response: Response): void {
  const how = /pods\/([\w-]+)\/log/.exec(path)?.[1] ?? '';
  response.write('half\n');
  setTimeout(() => {
    if (how === 'complete') response.end('whole\n');
    else if (!('stream' in response)) response.socket?.destroy();
    else if (how === 'lost') response.stream.session?.destroy();
    else response.stream.close(Number(how.slice('reset-'.length)));
  }, 50);
}

/** Lets a program print objects as JSON, because each runtime has a form of its own. */
export function withJson(module: string): string {
  const asJson = `const print = console.log;
console.log = (...all: unknown[]) => print(...all.map((one) => typeof one === 'string' ? one : JSON.stringify(one)));
`;
  return asJson + module;
}
