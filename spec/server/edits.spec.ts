/** Tests edits by a server of users: who writes, what is written, and what is refused. */
import { ApiError, createInformerFactory } from 'rx-informer';
import { pods, secrets } from 'rx-informer/resources';
import { editInWorker } from 'rx-informer/worker';
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/patience.ts';
import { followed, names, UsersRig } from './users-rig.ts';

const label = (value: string) => (draft: { metadata: { labels?: Record<string, string> } }) => {
  draft.metadata.labels = { ...draft.metadata.labels, value };
};

/** A rig whose users may edit, with one factory or one for each. */
function editing(kind: 'one factory' | 'a factory for each', takesEdits = true): UsersRig {
  const rig = new UsersRig({ edits: kind === 'a factory for each' && takesEdits });
  if (kind === 'one factory') {
    rig.serveShared({ ...(takesEdits && { edits: ({ name }) => rig.client(`t-${name}`) }) });
  }
  rig.grant('edit', { kind: 'User', name: 'ann' }, 'a', { verbs: ['get', 'update', 'patch'] });
  return rig;
}

const writes = (rig: UsersRig) =>
  rig.api.requests
    .filter(({ method }) => method === 'PUT' || method === 'PATCH')
    .map(({ path }) => path);
const labelOf = (rig: UsersRig, namespace: string, name: string) =>
  rig.api.objects.get(pods, { namespace, name })?.metadata?.labels?.value;

/** The answer of an edit, or its error. */
async function answered(rig: UsersRig, edit: Promise<unknown>): Promise<unknown> {
  let said: unknown = 'nothing';
  edit.then(
    () => (said = 'done'),
    (error) => (said = error),
  );
  // The code of edits is loaded with the first of them, in real time.
  await eventually(async () => {
    await rig.pass(1_000);
    expect(said).not.toBe('nothing');
  });
  return said;
}

describe.each(['one factory', 'a factory for each'] as const)('edits over %s', (kind) => {
  it('E15: are written by the user, and shown by the watch', async () => {
    const rig = editing(kind);
    const page = rig.page('t-ann');
    const { shown } = followed(page.view(names));
    await rig.pass(5_000);
    const edit = editInWorker(page, pods, 'a/web', label('new') as never);
    expect(await answered(rig, edit)).toBe('done');
    expect(labelOf(rig, 'a', 'web')).toBe('new');
    expect(shown().synced).toBe(kind === 'one factory');
  });

  it('E15: the API server decides about each, and its answer is told', async () => {
    const rig = editing(kind);
    const [ann, bob] = [rig.page('t-ann'), rig.page('t-bob')];
    await rig.pass(5_000);
    for (const [page, key] of [
      [ann, 'b/db'],
      [bob, 'a/web'],
    ] as const) {
      const error = await answered(rig, editInWorker(page, pods, key, label('x') as never));
      expect(error).toMatchObject({ code: 403, reason: 'Forbidden' });
      expect((error as Error).message).toMatch(/cannot (get|update|patch) resource "pods"/);
      // E8: neither the address nor the path of the request.
      expect((error as Error).message).not.toMatch(/:\/\/|\/api/);
    }
    const gone = await answered(rig, editInWorker(ann, pods, 'a/gone', label('x') as never));
    expect(gone).toMatchObject({ code: 404 });
    expect(writes(rig)).toEqual([]);
  });

  it('E15: are refused by a server that takes none', async () => {
    const rig = editing(kind, false);
    const page = rig.page('t-ann');
    await rig.pass(5_000);
    const error = await answered(rig, editInWorker(page, pods, 'a/web', label('x') as never));
    expect(error).toMatchObject({ message: 'this server takes no edits' });
    expect(writes(rig)).toEqual([]);
  });

  it('E15: at most 20 wait for their pages, and one whose page does not answer ends after 30 seconds', async () => {
    const rig = editing(kind);
    const raw = rig.raw();
    raw.hello();
    await rig.pass(5_000);
    for (let id = 1; id <= 25; id++) {
      const edit = {
        ...{ resource: { group: '', version: 'v1', plural: 'pods' }, namespace: 'a' },
        ...{ name: id % 2 === 0 ? 'web' : 'api', options: {}, timeoutMs: 3_600_000 },
      };
      raw.send({ type: 'edit', id, edit, ...raw.session() });
    }
    const errors = () =>
      raw.received
        .filter(({ type }) => type === 'edited')
        .map(({ error }) => (error as { message: string }).message);
    await rig.pass(1_000);
    expect(errors()).toEqual(
      Array.from({ length: 5 }, () => 'this user has 20 open edits; wait for their answers'),
    );
    // The page acknowledges, but makes no draft.
    for (let at = 0; at < 80; at++) {
      const { set } = (raw.received.findLast(({ type }) => type === 'rows') ?? { set: 0 }) as never;
      raw.send({ type: 'ack', set, ...raw.session() });
      await rig.pass(5_000);
    }
    expect(errors().length).toBe(25);
    expect(writes(rig)).toEqual([]);
  });
});

describe('edits over one factory', () => {
  it('E15: a kind that the server does not have, or another version of one, causes no request', async () => {
    const rig = editing('one factory');
    const page = rig.page('t-ann');
    await rig.pass(5_000);
    const before = rig.api.requests.length;
    const error = await answered(rig, editInWorker(page, secrets, 'a/key', label('x') as never));
    expect((error as Error).message).toMatch(/the server does not have secrets/);
    expect(rig.api.requests.length).toBe(before);
    const old = { ...pods, version: 'v0', apiVersion: 'v0' };
    const other = await answered(rig, editInWorker(page, old, 'a/web', label('y') as never));
    expect([(other as ApiError).code, (other as ApiError).message]).toEqual([
      400,
      'edit: the server has version v1 of pods, and this page edits "v0"; edit an object of the version of the server',
    ]);
    expect([writes(rig), labelOf(rig, 'a', 'web')]).toEqual([[], undefined]);
  });

  it('E15: a client that cannot be made refuses the edit, and is made again for the next', async () => {
    const rig = new UsersRig();
    const thrown: unknown[] = [
      new Error('no token of ann at 10.0.0.1'),
      new ApiError({ code: 401, reason: 'Unauthorized', message: 'POST https://10.0.0.1: no' }),
    ];
    const told: unknown[] = [];
    rig.serveShared({
      onUnhandledError: (error) => told.push(error),
      edits: ({ name }) => {
        if (thrown.length > 0) throw thrown.shift();
        return rig.client(`t-${name}`);
      },
    });
    rig.grant('edit', { kind: 'User', name: 'ann' }, 'a', { verbs: ['get', 'update', 'patch'] });
    const page = rig.page('t-ann');
    await rig.pass(5_000);
    const all = [...thrown];
    for (const [code, reason] of [
      [500, 'InternalError'],
      [401, 'Unauthorized'],
    ] as const) {
      const error = await answered(rig, editInWorker(page, pods, 'a/web', label('x') as never));
      const message = `the edit could not be made, because the server has no client of this user (${code} ${reason}); try again`;
      expect(error).toMatchObject({ code, reason, message });
    }
    expect(told).toEqual(all);
    expect(await answered(rig, editInWorker(page, pods, 'a/web', label('x') as never))).toBe(
      'done',
    );
  });

  it('E8: an edit that no program of ours sends says that the edit has failed, not a query', async () => {
    const rig = editing('one factory');
    const raw = rig.raw();
    raw.hello();
    await rig.pass(5_000);
    const edit = {
      ...{ resource: { group: '', version: 'v1', plural: 'pods' }, namespace: 'a', name: 'web' },
      ...{ options: {}, timeoutMs: 'soon' },
    };
    raw.send({ type: 'edit', id: 1, edit, ...raw.session() });
    const answer = () => raw.received.find(({ type }) => type === 'edited');
    await eventually(async () => {
      await rig.pass(1_000);
      expect(answer()).toBeDefined();
    });
    expect(answer()).toMatchObject({ error: { message: 'the edit has failed' } });
  });

  it('E15: invalid options are refused by name', () => {
    const rig = new UsersRig();
    expect(() => rig.serveShared({ edits: true as never })).toThrow(/serveUsers: edits/);
    const createFactory = () => createInformerFactory(rig.client('t-ann'));
    expect(() => rig.serve({ createFactory, edits: (() => undefined) as never })).toThrow(
      /serveUsers: edits/,
    );
  });
});
