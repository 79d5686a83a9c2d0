/** Requests at versions whose history was compacted. The tests use Events, because the server does not cache them. */
import { expect, it } from 'vitest';
import { type ApiServer, events, expectFailure, get, names, post, take } from './api-server.ts';

export function expiryTests(server: () => ApiServer): void {
  const event = (namespace: string, name: string) =>
    post(server(), events(namespace), { metadata: { name }, involvedObject: { namespace } });

  /** Reads a first page, makes a change, and compacts the history. */
  async function compacted() {
    const namespace = await server().freshNamespace();
    for (const name of ['a', 'c', 'd']) await event(namespace, name);
    const path = events(namespace);
    const first = await get(server(), path, { limit: '1' });
    await event(namespace, 'b');
    await server().compact?.();
    return { path, token: first.metadata.continue, version: first.metadata.resourceVersion };
  }

  const test = (name: string, run: () => Promise<void>) =>
    it(name, async ({ skip }) => {
      if (server().compact === undefined) return skip('this server cannot be compacted');
      await run();
    });

  test('the token of a next page expires; the error has a token for an inconsistent continuation', async () => {
    const { path, token } = await compacted();
    const query = { limit: '2', continue: token };
    const answer = await server().request('GET', path, { query });
    expectFailure(answer, 410, 'Expired', /^The provided continue parameter is too old/);
    const rest = await get(server(), path, { ...query, continue: answer.json.metadata.continue });
    expect(names(rest)).toEqual(['b', 'c']);
    const last = await get(server(), path, { ...query, continue: rest.metadata.continue });
    expect(names(last)).toEqual(['d']);
    expect(last.metadata.resourceVersion).toBe(rest.metadata.resourceVersion);
  });

  test('a list at an exact version expires, a list at a minimum version does not', async () => {
    const { path, version: resourceVersion } = await compacted();
    const options: Record<string, string>[] = [{ resourceVersionMatch: 'Exact' }, { limit: '1' }];
    for (const option of options) {
      const query = { resourceVersion, ...option };
      const answer = await server().request('GET', path, { query });
      expectFailure(
        answer,
        410,
        'Expired',
        /^The resourceVersion for the provided list is too old/,
      );
    }
    const list = await get(server(), path, { resourceVersion });
    expect(names(list)).toEqual(['a', 'b', 'c', 'd']);
  });

  test('a watch at an expired version responds with 200 and an ERROR event', async () => {
    const { path, version: resourceVersion } = await compacted();
    const lines = server().stream(path, { watch: '1', resourceVersion });
    const [error] = await take(lines, 1);
    lines.close();
    expect(error.type).toBe('ERROR');
    expect(error.object).toMatchObject({
      kind: 'Status',
      status: 'Failure',
      code: 410,
      reason: 'Expired',
    });
  });
}
