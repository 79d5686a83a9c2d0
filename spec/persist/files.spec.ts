/** Tests `fileSnapshots` on a real disk: a warm start, modes, links, locks and forgetting. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
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
import { fileStore } from '../../lib/node/snapshots/file-snapshots.ts';
import { isOfDisk, lockFolder } from '../../lib/node/snapshots/folder-lock.ts';
import { diskFiles } from '../../lib/node/snapshots/log-files.ts';
import { LOCK } from './crashes.ts';
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
  await factory.whenSynced();
  const names = lister.list().map(({ metadata }) => metadata?.name ?? '');
  await factory.stop();
  await persist.close();
  return names.sort();
}

const files = () => readdirSync(folder).filter((name) => name.endsWith('.snapshot'));

describe('fileSnapshots', () => {
  it('P1: starts from its files, with one list with limit 1', async () => {
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

  it('P25: says what is wrong with a path that is no folder', () => {
    writeFileSync(folder, 'a file');
    expect(() => fileSnapshots({ folder, ...options })).toThrow(
      /not a folder but a link or a file/,
    );
    expect(() => fileSnapshots({ folder: join(folder, 'a'), ...options })).toThrow(
      /cannot be locked: ENOTDIR.*pass a folder in which this process may write/,
    );
  });

  it.each(['ENOSPC', 'EDQUOT', 'EIO', 'EROFS'])(
    'P18: a program starts on a disk that answers %s',
    (code) => {
      const cause = Object.assign(new Error(code), { code });
      expect(isOfDisk(new Error('cannot be locked', { cause }))).toBe(true);
      expect(isOfDisk(new Error('cannot be locked', { cause: { code: 'ENOTDIR' } }))).toBe(false);
    },
  );

  // Whatever is written to this file, the disk is full.
  it.runIf(existsSync('/dev/full'))(
    'P18: a program starts on a full disk, says so once, and leaves nothing behind',
    async () => {
      const stat = readFileSync(`/proc/${process.pid}/stat`, 'utf8').split(') ')[1];
      const probe = `probe-${process.pid}-${stat?.split(' ')[19]}`;
      mkdirSync(folder, { mode: 0o700 });
      writeFileSync(join(folder, 'probe-1-7'), 'of a process that was killed');
      const full = () => symlinkSync('/dev/full', join(folder, probe));
      full();
      expect(() => lockFolder(folder)).toThrow(/cannot be locked: ENOSPC.*; free space/);
      full();
      const persist = fileSnapshots({ folder, ...options });
      expect(readdirSync(folder)).toEqual(['probe-1-7']);
      full();
      const server = createFakeApiServer();
      fill(server);
      const warnings: string[] = [];
      expect(await live(server, persist, warnings)).toEqual(['a', 'b', 'c']);
      expect(warnings).toEqual([expect.stringMatching(/cannot be locked: ENOSPC/)]);
      lockFolder(folder, 0).release();
      expect(readdirSync(folder)).toEqual(['lock-1']);
    },
  );

  it('P26: refuses a folder that this process uses already, until it is closed', async () => {
    const first = fileSnapshots({ folder, ...options });
    expect(() => fileSnapshots({ folder, ...options })).toThrow(/in use by this process/);
    await first.close();
    await fileSnapshots({ folder, ...options }).close();
  });

  it('P26: each of several calls of close resolves when the folder is released', async () => {
    const persist = fileSnapshots({ folder, ...options });
    const factory = createInformerFactory(
      createClient({ baseUrl: 'http://fake', fetch: createFakeApiServer().fetch }),
      { persist },
    );
    factory.informer(services);
    factory.start();
    await factory.whenSynced();
    const first = persist.close();
    await persist.close();
    await fileSnapshots({ folder, ...options }).close();
    await first;
    await factory.stop();
  });

  it('P26: refuses a folder that another process uses, and takes the lock of a process that was killed', async () => {
    const script = `
      import { fileSnapshots } from 'rx-informer/node';
      fileSnapshots({ folder: process.argv[1], identity: 'alice', kinds: [] });
      console.log('locked');
      process.stdin.resume();
    `;
    const other = spawn(
      process.execPath,
      ['--conditions=rx-informer-source', '--input-type=module', '-e', script, folder],
      {
        cwd: fileURLToPath(new URL('../..', import.meta.url)),
        stdio: ['pipe', 'pipe', 'inherit'],
      },
    );
    await once(other.stdout, 'data');
    expect(() => fileSnapshots({ folder, ...options })).toThrow(`in use by process ${other.pid}`);
    other.kill('SIGKILL');
    await once(other, 'exit');
    await fileSnapshots({ folder, ...options }).close();
  });

  it('P26: takes the lock of a process in another place when it was not touched for long, and does not append to its files', () => {
    mkdirSync(folder, { mode: 0o700 });
    const owner = { pid: 1, start: '7', place: 'elsewhere' };
    writeFileSync(join(folder, 'lock-7'), JSON.stringify(owner));
    expect(() => lockFolder(folder)).toThrow(/in use by process 1/);
    const taken = lockFolder(folder, 0);
    expect(taken.mayBeShared).toBe(true);
    taken.release();
    const next = lockFolder(folder, 0);
    expect(next.mayBeShared).toBe(false);
    next.release();
    expect(readdirSync(folder)).toEqual(['lock-9']);
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

  it('P14: forget deletes the files also after close, and releases the folder again', async () => {
    const server = createFakeApiServer();
    fill(server);
    const persist = fileSnapshots({ folder, ...options });
    await live(server, persist);
    const other = fileSnapshots({ folder, ...options });
    await expect(persist.forget()).rejects.toThrow(/in use by this process/);
    expect(files()).toHaveLength(1);
    const closed = other.close();
    await other.forget();
    await closed;
    expect(files()).toEqual([]);
    await fileSnapshots({ folder, ...options }).close();
  });

  it('P14: forget deletes what a crash has left, and files that cannot be read, whatever they are', async () => {
    const server = createFakeApiServer();
    const secret = { metadata: { namespace: 'shop', name: 'a', annotations: { of: 'alice' } } };
    server.objects.create(services, secret);
    await live(server, fileSnapshots({ folder, ...options }));
    const [name = ''] = files();
    const whole = readFileSync(join(folder, name));
    writeFileSync(join(folder, `${name}.new`), whole);
    const damaged = Buffer.from(whole);
    damaged.writeUInt8(0, 20);
    writeFileSync(join(folder, 'damaged.snapshot'), damaged);
    const target = join(base, 'target');
    writeFileSync(target, 'untouched');
    symlinkSync(target, join(folder, 'link.snapshot'));
    mkdirSync(join(folder, 'folder.snapshot'));
    const persist = fileSnapshots({ folder, ...options });
    await persist.forget();
    await persist.close();
    expect(readdirSync(folder).filter((each) => !each.startsWith('lock'))).toEqual([
      'folder.snapshot',
    ]);
    expect(readFileSync(target, 'utf8')).toBe('untouched');
  });

  it('P14: forget does not delete the files of another identity, also not those that a crash has left', async () => {
    const server = createFakeApiServer();
    fill(server);
    await live(server, fileSnapshots({ folder, ...options, identity: 'bob' }));
    const [name = ''] = files();
    writeFileSync(join(folder, `${name}.new`), readFileSync(join(folder, name)));
    const persist = fileSnapshots({ folder, ...options });
    await persist.forget();
    await persist.close();
    expect(readdirSync(folder).filter((each) => !each.startsWith('lock'))).toEqual([
      name,
      `${name}.new`,
    ]);
  });

  it('P23: a file is asked to be written again when more of it is void than valid, also if objects only come and go', async () => {
    const store = fileStore(diskFiles(base), () => LOCK);
    const json = Buffer.alloc(100_000, 'x');
    const change = { head: '{}', resourceVersion: '1', savedAtMs: 0, deleted: [] };
    const first = Array.from({ length: 10 }, (_, at) => [`shop/${at}`, json] as const);
    await store.write('id', { ...change, replaces: true, objects: first });
    let asked: string | undefined;
    let at = 10;
    // Each change deletes the oldest object and adds another, so ten are valid.
    for (; asked === undefined && at < 100; at++) {
      const deleted = [`shop/${at - 10}`];
      const objects = [[`shop/${at}`, json] as const];
      asked = (await store.write('id', { ...change, replaces: false, objects, deleted })) as never;
    }
    expect(asked).toBe('rewrite');
    const [name = ''] = readdirSync(base);
    expect(statSync(join(base, name)).size).toBeLessThan(2.3 * 10 * json.length);
    // The next start reads the same sizes, and asks for it with the next change.
    const again = fileStore(diskFiles(base), () => LOCK);
    for await (const _part of (await again.read('id'))?.parts ?? []);
    const none = { ...change, replaces: false, objects: [] };
    expect(await again.write('id', none)).toBe('rewrite');
  });

  it('P18: a write that fails leaves no part of a file behind', async () => {
    const disk = diskFiles(base);
    const create = async (name: string) => {
      const file = await disk.create(name);
      return { ...file, sync: () => Promise.reject(new Error('no space left on device')) };
    };
    const store = fileStore({ ...disk, create }, () => LOCK);
    const change = { head: '{}', resourceVersion: '1', savedAtMs: 0, replaces: true, deleted: [] };
    const objects = [['shop/a', Buffer.from('{}')]] as const;
    await expect(store.write('id', { ...change, objects })).rejects.toThrow(/no space/);
    expect(readdirSync(base)).toEqual([]);
  });

  it('P26: a process whose folder was taken while it was suspended changes nothing in it any more', async () => {
    const server = createFakeApiServer();
    fill(server);
    const warnings: string[] = [];
    const persist = fileSnapshots({ folder, ...options });
    // As another process takes it: with the next lock, and without the locks before.
    const [lock = ''] = readdirSync(folder);
    renameSync(join(folder, lock), join(folder, 'lock-9'));
    const owner = JSON.stringify({ pid: 9, start: '', place: 'elsewhere' });
    writeFileSync(join(folder, 'lock-9'), owner);
    expect(await live(server, persist, warnings)).toEqual(['a', 'b', 'c']);
    expect(warnings).toEqual([expect.stringMatching(/another process took it while/)]);
    await expect(persist.forget()).rejects.toThrow(/in use by process 9/);
    expect(readdirSync(folder)).toEqual(['lock-9']);
    expect(readFileSync(join(folder, 'lock-9'), 'utf8')).toBe(owner);
  });

  it('P1: a relative folder stays the same if the program changes its working directory', async () => {
    const before = process.cwd();
    try {
      process.chdir(base);
      const persist = fileSnapshots({ ...options, folder: 'snapshots' });
      process.chdir(before);
      const server = createFakeApiServer();
      fill(server);
      await live(server, persist);
    } finally {
      process.chdir(before);
    }
    expect(files()).toHaveLength(1);
  });
});

describe('the files of a folder', () => {
  it('P36: say when each collection was right, also if a file is read or damaged', async () => {
    const lock = lockFolder(folder);
    const store = fileStore(
      diskFiles(folder),
      () => lock,
      () => lock.release(),
    );
    const objects = [['shop/a', new TextEncoder().encode('{}')]] as const;
    const write = (id: string, savedAtMs: number, replaces = true) =>
      store.write(id, {
        head: 'h',
        resourceVersion: '1',
        savedAtMs,
        replaces,
        objects,
        deleted: [],
      });
    await write('one', 1);
    await write('two', 2);
    await write('one', 30, false);
    expect(await store.times?.()).toEqual(
      new Map([
        ['one', 30],
        ['two', 2],
      ]),
    );
    for (const name of files()) truncateSync(join(folder, name), 10);
    expect(await store.times?.()).toEqual(new Map());
    await store.close();
  });
});
