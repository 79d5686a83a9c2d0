/** Starts nginx in front of a server, with one of the configurations in this folder. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { testOnlyServerCert, testOnlyServerKey } from '../../node/test-only-certificates.ts';
import { onFreePorts } from '../../support/free-port.ts';
import { eventually } from '../../support/patience.ts';

/** The names of the configurations. */
export type NginxConfiguration =
  | 'unbuffered'
  | 'defaults'
  | 'gzip-unbuffered'
  | 'gzip-buffered'
  | 'http2';

/** A running nginx. */
export interface Nginx {
  /** `http://127.0.0.1:PORT`, or https. */
  readonly url: string;
  /** Switches to another configuration on the same port. Open streams end. */
  reconfigure(configuration: NginxConfiguration): Promise<void>;
  close(): Promise<void>;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}

/**
 * Starts nginx in front of `server`, with the credentials of its token. Rejects with nginx's error if it does not
 * start.
 */
export async function startNginx(
  configuration: NginxConfiguration,
  server: { readonly url: string; readonly token: string },
): Promise<Nginx> {
  const folder = await mkdtemp(join(tmpdir(), 'rx-informer-nginx-'));
  await writeFile(join(folder, 'server.crt'), testOnlyServerCert);
  await writeFile(join(folder, 'server.key'), testOnlyServerKey);
  const values: Record<string, string> = {
    ...{ folder, upstream: server.url, token: server.token },
  };

  let port = 0;
  const run = async (name: NginxConfiguration, onPort = port) => {
    port = onPort;
    const path = fileURLToPath(new URL(`${name}.conf`, import.meta.url));
    values['port'] = String(port);
    const text = (await readFile(path, 'utf8')).replace(/\{\{(\w+)\}\}/g, (_, key) => {
      const value = values[key];
      if (value === undefined) throw new Error(`${path}: there is no value for {{${key}}}`);
      return value;
    });
    const file = join(folder, 'nginx.conf');
    await writeFile(file, text);
    const child = spawn('nginx', ['-e', join(folder, 'error.log'), '-p', folder, '-c', file], {
      stdio: ['ignore', 'ignore', 'pipe'],
      // Debian installs nginx here, where only root's PATH points to.
      env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` },
    });
    let said = '';
    child.stderr.on('data', (data) => {
      said += data;
    });
    let ended: string | undefined;
    child.once('error', (error) => {
      ended ??= `${error.message}: install nginx-light`;
    });
    child.once('exit', (code) => {
      ended ??= `exit code ${code}: ${said}`;
    });
    await eventually(async () => ended !== undefined || (await accepts(port)), 'nginx listens');
    if (ended !== undefined) throw new Error(`nginx does not start: ${ended}`);
    return child;
  };
  let child = await onFreePorts((free) => run(configuration, free));
  const end = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  };
  return {
    url: `${configuration === 'http2' ? 'https' : 'http'}://127.0.0.1:${port}`,
    async reconfigure(name) {
      await end();
      child = await run(name);
    },
    async close() {
      await end();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
