/** Tests `fileSnapshots` on a real disk: a warm start, modes, links, locks and forgetting. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  createClient,
  createInformerFactory,
  type InformerFactory,
  type PersistPart,
} from 'rx-informer';
import { fileSnapshots } from 'rx-informer/node';
import { createFakeApiServer, type FakeApiServer } from 'rx-informer/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { requestsOf, services } from './rig.ts';

let base = '';
let folder = '';
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'rx-informer-'));
  folder = join(base, 'snapshots');
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const options = { identity: 'alice', kinds: [services] };

function fill(server: FakeApiServer): void {
  for (const name of ['a', 'b', 'c']) {
    server.objects.create(services, { metadata: { namespace: 'shop', name } });
  }
}

/** One life of a program. */
async function live(
  server: FakeApiServer,
  persist: PersistPart,
  warnings: string[] = [],
): Promise<readonly string[]> {
  const factory: InformerFactory = createInformerFactory(
    createClient({ baseUrl: 'http://fake', fetch: server.fetch }),
    { persist, onWarning: (message) => warnings.push(message) },
  );
  const lister = factory.lister(services);
  factory.start();
  await factory.whenSynced({ timeoutMs: 20_000 });
  const names = lister.list().map(({ metadata }) => metadata?.name ?? '');
  await factory.stop();
  await persist.close();
  return names.sort();
}

const files = () => readdirSync(folder).filter((name) => name.endsWith('.snapshot'));

describe('fileSnapshots', () => {
  it('P24: starts from its files, with one list with limit 1', async () => {
    const server = createFakeApiServer();
    fill(server);
    expect(await live(server, fileSnapshots({ folder, ...options }))).toEqual(['a', 'b', 'c']);
    server.objects.delete(services, { namespace: 'shop', name: 'b' });
    server.clearRequests();
    expect(await live(server, fileSnapshots({ folder, ...options }))).toEqual(['a', 'c']);
    expect(requestsOf(server).filter((each) => !each.startsWith('W'))).toEqual(['L1']);
  });

  it('P25: creates the folder with mode 0700 and its files with mode 0600', async () => {
    const server = createFakeApiServer();
    fill(server);
    await live(server, fileSnapshots({ folder, ...options }));
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    const modes = readdirSync(folder).map((name) => statSync(join(folder, name)).mode & 0o777);
    expect(new Set(modes)).toEqual(new Set([0o600]));
  });

  it('P25: refuses a folder that others may read, and a link in place of the folder', () => {
    mkdirSync(folder);
    chmodSync(folder, 0o755);
    expect(() => fileSnapshots({ folder, ...options })).toThrow(/chmod 700/);
    const link = join(base, 'link');
    symlinkSync(folder, link);
    expect(() => fileSnapshots({ folder: link, ...options })).toThrow(/not a folder but a link/);
  });

  it('P25: follows no link in place of a file', async () => {
    const server = createFakeApiServer();
    fill(server);
    await live(server, fileSnapshots({ folder, ...options }));
    const [name = ''] = files();
    const target = join(base, 'target');
    writeFileSync(target, 'untouched');
    rmSync(join(folder, name));
    symlinkSync(target, join(folder, name));
    const warnings: string[] = [];
    expect(await live(server, fileSnapshots({ folder, ...options }), warnings)).toEqual([
      'a',
      'b',
      'c',
    ]);
    expect(warnings).toHaveLength(1);
    expect(readFileSync(target, 'utf8')).toBe('untouched');
  });

  it('P26: refuses a folder that this process uses already, until it is closed', async () => {
    const first = fileSnapshots({ folder, ...options });
    expect(() => fileSnapshots({ folder, ...options })).toThrow(/in use by this process/);
    await first.close();
    await fileSnapshots({ folder, ...options }).close();
  });

  it('P26: refuses a folder that another process uses, and takes the lock of a process that was killed', async () => {
    const script = `
      import { fileSnapshots } from 'rx-informer/node';
      fileSnapshots({ folder: process.argv[1], identity: 'alice', kinds: [] });
      console.log('locked');
      setInterval(() => undefined, 1_000);
    `;
    const other = spawn(
      process.execPath,
      ['--conditions=rx-informer-source', '--input-type=module', '-e', script, folder],
      {
        cwd: fileURLToPath(new URL('../..', import.meta.url)),
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    await once(other.stdout, 'data');
    expect(() => fileSnapshots({ folder, ...options })).toThrow(`in use by process ${other.pid}`);
    other.kill('SIGKILL');
    await once(other, 'exit');
    await fileSnapshots({ folder, ...options }).close();
  });

  it('P18: a file that was cut, or is of another format, leads to a list or to an earlier state, never to a wrong one', async () => {
    const server = createFakeApiServer();
    fill(server);
    await live(server, fileSnapshots({ folder, ...options }));
    const [name = ''] = files();
    const path = join(folder, name);
    const whole = readFileSync(path);
    for (const size of [0, 4, 20, whole.length - 1]) {
      truncateSync(path, size);
      expect(await live(server, fileSnapshots({ folder, ...options }))).toEqual(['a', 'b', 'c']);
    }
    writeFileSync(path, Buffer.concat([Buffer.from('rxisnap9'), whole.subarray(8)]));
    const warnings: string[] = [];
    expect(await live(server, fileSnapshots({ folder, ...options }), warnings)).toEqual([
      'a',
      'b',
      'c',
    ]);
    expect(warnings).toEqual([expect.stringContaining('another version of rx-informer')]);
  });

  it('P14: forget deletes the files of an identity', async () => {
    const server = createFakeApiServer();
    fill(server);
    await live(server, fileSnapshots({ folder, ...options }));
    await live(server, fileSnapshots({ folder, ...options, identity: 'bob' }));
    expect(files()).toHaveLength(2);
    const persist = fileSnapshots({ folder, ...options });
    await persist.forget('bob');
    expect(files()).toHaveLength(1);
    await persist.forget();
    expect(files()).toEqual([]);
    await persist.close();
  });
});
