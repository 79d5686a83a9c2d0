/** Ports for servers that the tests start as processes of their own. */
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * A port of loopback that was free a moment ago. It is below the ports that the system gives to connections, so that none of them
 * takes it before the server starts, or while it is restarted.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 22_000);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    await new Promise((resolve) => server.close(resolve));
    if (isFree) return port;
  }
}

/** Whether an error, or what a server said, is that another process has the port. */
export function isPortTaken(said: unknown): boolean {
  return /address already in use|EADDRINUSE/i.test(String(said));
}

/** Starts a server, and again on other ports while another process was faster. Rejects with any other error of `start`. */
export async function onFreePorts<R>(
  start: (port: number, second: number) => Promise<R>,
): Promise<R> {
  for (;;) {
    try {
      return await start(await freePort(), await freePort());
    } catch (error) {
      if (!isPortTaken(error)) throw error;
    }
  }
}
