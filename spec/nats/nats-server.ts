/** Starts, kills and restarts a NATS server with JetStream on disk and a WebSocket listener, on free ports. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { type ConnectionOptions, connect, type NatsConnection } from '@nats-io/transport-node';
import { isPortTaken, onFreePorts } from '../support/free-port.ts';
import { eventually, HANG_MS } from '../support/patience.ts';
import { ensureNatsBinary } from './nats-binary.ts';

/** The options of a server. */
export interface NatsServerOptions {
  /** Lines that are added to the config file, for example users and their permissions. */
  readonly config?: string;
  /** The largest message, in bytes. */
  readonly maxPayload?: number;
  /** The user of connections without options of their own. */
  readonly user?: ConnectionOptions;
}

/** A manager whose requests wait for their answers, also in a process that stands still for longer than their usual five seconds. */
export const managerOf = (connection: NatsConnection): Promise<JetStreamManager> =>
  jetstreamManager(connection, { timeout: HANG_MS });

/** A NATS server in a process of its own. Its ports and its store survive a restart. */
export class NatsServer {
  readonly #binary: string;
  readonly #folder = mkdtempSync(join(tmpdir(), 'rx-informer-nats-'));
  readonly #port: number;
  readonly #webSocketPort: number;
  readonly #connections = new Set<NatsConnection>();
  #process: ChildProcess | undefined;
  #user: ConnectionOptions = {};

  private constructor(binary: string, port: number, webSocketPort: number) {
    this.#binary = binary;
    this.#port = port;
    this.#webSocketPort = webSocketPort;
  }

  static async start(options: NatsServerOptions = {}): Promise<NatsServer> {
    const binary = await ensureNatsBinary();
    return onFreePorts(async (port, webSocketPort) => {
      const server = new NatsServer(binary, port, webSocketPort);
      server.#user = options.user ?? {};
      server.#configure(options);
      await server.#launch();
      return server;
    });
  }

  get url(): string {
    return `nats://127.0.0.1:${this.#port}`;
  }

  get port(): number {
    return this.#port;
  }

  get webSocketUrl(): string {
    return `ws://127.0.0.1:${this.#webSocketPort}`;
  }

  #configure({ config = '', maxPayload = 1024 * 1024 }: NatsServerOptions): void {
    const lines = [
      `listen: "127.0.0.1:${this.#port}"`,
      `max_payload: ${maxPayload}`,
      `websocket { listen: "127.0.0.1:${this.#webSocketPort}", no_tls: true }`,
      `jetstream { store_dir: ${JSON.stringify(this.store)} }`,
      `logfile: ${JSON.stringify(join(this.#folder, 'log'))}`,
      config,
    ];
    writeFileSync(join(this.#folder, 'nats.conf'), lines.join('\n'));
  }

  /** The folder of the store. */
  get store(): string {
    return join(this.#folder, 'store');
  }

  /** Starts the process again and resolves when it accepts clients. Waits while another process has its port. */
  async run(): Promise<void> {
    const failed = await eventually(async () => {
      try {
        await this.#launch();
        return undefined;
      } catch (error) {
        return isPortTaken(error) ? false : { error };
      }
    }, 'the ports of the NATS server are free');
    if (failed) throw failed.error;
  }

  async #launch(): Promise<void> {
    const child = spawn(this.#binary, [join(this.#folder, 'nats.conf')], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#process = child;
    const ready = once(createInterface(child.stdout), 'line');
    const failed = once(child, 'exit').then(([code]) => {
      throw new Error(`the NATS server ended with ${code}; the end of its log:\n${this.#said()}`);
    });
    failed.catch(() => undefined);
    await Promise.race([ready, failed]);
  }

  /** The end of the log. */
  #said(): string {
    try {
      return readFileSync(join(this.#folder, 'log'), 'utf8')
        .trimEnd()
        .split('\n')
        .slice(-5)
        .join('\n');
    } catch {
      return 'it wrote none';
    }
  }

  /** Ends the process without a warning, as a crash does. */
  async kill(): Promise<void> {
    const child = this.#process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  /** Stops the process for a while; connections stay open and are silent. */
  freeze(): void {
    this.#process?.kill('SIGSTOP');
  }

  thaw(): void {
    this.#process?.kill('SIGCONT');
  }

  /** Copies the store. The process must not run. */
  saveStore(): string {
    const copy = mkdtempSync(join(this.#folder, 'copy-'));
    cpSync(this.store, copy, { recursive: true });
    return copy;
  }

  /** Replaces the store by a copy. The process must not run. */
  restoreStore(copy: string): void {
    rmSync(this.store, { recursive: true, force: true });
    cpSync(copy, this.store, { recursive: true });
  }

  /** Connects as most clients should: reconnecting for ever. The connection is closed with the server. */
  async connect(options: ConnectionOptions = {}): Promise<NatsConnection> {
    const connection = await connect({
      servers: this.url,
      maxReconnectAttempts: -1,
      reconnectTimeWait: 100,
      ...this.#user,
      ...options,
    });
    this.#connections.add(connection);
    return connection;
  }

  /** Closes all connections, ends the process and removes its files. */
  async stop(): Promise<void> {
    this.thaw();
    await Promise.all([...this.#connections].map((connection) => connection.close()));
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
