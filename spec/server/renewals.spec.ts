/** Tests the renewal of credentials while others are being verified, and sign-ins of a page that is not answered yet. */

import { afterEach, describe, expect, it, vi } from 'vitest';
import { followed, namesOf, UsersRig } from './users-rig.ts';

const ANN = { name: 'ann', uid: 'u1', groups: ['team-a'] };

/** A page of `old` credentials that is answered. What `signIn` is asked from then on waits for the test. */
async function answered() {
  const rig = new UsersRig();
  const credentials = { token: 'old' };
  const asked: { readonly token: string; answer(user: unknown): void }[] = [];
  rig.review = () => ANN;
  const page = rig.page('ann', { credentials: () => ({ ...credentials }) });
  const { shown } = followed(page.view(namesOf('a')));
  await rig.pass(2_000);
  rig.review = (token) => new Promise((answer) => asked.push({ token, answer }));
  /** The page has other credentials, and says so. */
  const renew = async (token: string) => {
    credentials.token = token;
    page.signedIn('ann');
    await rig.pass(100);
  };
  const tokens = () => asked.map(({ token }) => token).join(' ');
  return { rig, page, shown, asked, renew, tokens };
}

describe('the renewal of credentials', () => {
  it('E7: the former credentials, which end with the new ones, sign nobody out while the new ones are being verified', async () => {
    const { rig, page, shown, asked, renew, tokens } = await answered();
    // Those of the first minute are verified again, which takes a while.
    await rig.pass(58_500);
    await renew('new');
    expect(tokens()).toBe('old new');
    asked[0]?.answer(undefined);
    await rig.pass(100);
    expect(page.connection.phase).toBe('open');
    asked[1]?.answer(ANN);
    await rig.pass(5_000);
    expect([page.connection.phase, shown().list]).toEqual(['open', 'api web']);
  });

  it('E7: new credentials that are being verified are not put off by the former ones, which are due', async () => {
    const { rig, shown, asked, renew, tokens } = await answered();
    await rig.pass(57_000);
    await renew('new');
    await rig.pass(3_000);
    expect(tokens()).toBe('new');
    asked[0]?.answer(ANN);
    await rig.pass(1_000);
    expect(shown()).toMatchObject({ list: 'api web', live: true });
  });

  it('E7: new credentials count, also if the former ones are verified first', async () => {
    const { rig, asked, renew, tokens } = await answered();
    await rig.pass(58_500);
    await renew('new');
    asked[0]?.answer(ANN);
    await rig.pass(100);
    asked[1]?.answer(ANN);
    await rig.pass(60_500);
    expect(tokens()).toBe('old new new');
  });

  it('E7: new credentials count that arrive after the former ones were verified again', async () => {
    const rig = new UsersRig();
    const tokens: string[] = [];
    rig.review = (token) => {
      tokens.push(token);
      return ANN;
    };
    const { page, hello, send, session, received } = rig.raw();
    const take = page.onmessage as ((event: unknown) => void) | null;
    page.onmessage = ((event: unknown) => {
      take?.(event);
      const { type, set } = received.at(-1) ?? {};
      if (type === 'rows') send({ type: 'ack', set, ...session() });
    }) as never;
    hello('old');
    await rig.pass(58_000);
    send({ type: 'identity', identity: 'me' });
    await rig.pass(6_000);
    const { id } = received.find(({ type }) => type === 'credentials') as { id: number };
    send({ type: 'credentials', id, headers: { token: 'new' }, ...session() });
    await rig.pass(100);
    expect(tokens).toEqual(['old', 'old', 'new']);
  });

  it('E7: the credentials that were asked for last count, not those that arrive last', async () => {
    const rig = new UsersRig();
    const tokens: string[] = [];
    rig.review = async (token) => {
      tokens.push(token);
      if (token === 'newer') await new Promise<void>((then) => rig.scheduler.schedule(then, 1_000));
      return token === 'older' ? undefined : ANN;
    };
    const { hello, send, session, received, end } = rig.raw();
    hello('old');
    await rig.pass(100);
    for (let at = 0; at < 2; at++) send({ type: 'identity', identity: 'me' });
    await rig.pass(100);
    const ids = received.filter(({ type }) => type === 'credentials').map(({ id }) => id);
    expect(ids).toHaveLength(2);
    for (const [id, token] of [
      [ids[1], 'newer'],
      [ids[0], 'older'],
    ]) {
      send({ type: 'credentials', id, headers: { token }, ...session() });
      await rig.pass(100);
    }
    await rig.pass(2_000);
    expect([tokens, end()]).toEqual([['old', 'newer'], undefined]);
  });

  it('E7: while signIn fails it is tried every five seconds, however often the page renews', async () => {
    const { rig, renew } = await answered();
    let tries = 0;
    rig.review = () => {
      tries++;
      throw new Error('no');
    };
    for (let at = 0; at < 10; at++) await renew(`t${at}`);
    tries = 0;
    await rig.pass(20_000);
    expect(tries).toBe(4);
  });

  it('E7: renewals that are never answered keep no connection for over two minutes', async () => {
    const { rig, shown, renew } = await answered();
    const renewTimes = async (times: number) => {
      for (let at = 0; at < times; at++) {
        await renew(`t${at}`);
        await rig.pass(1_000);
      }
    };
    await renewTimes(100);
    expect(shown()).toMatchObject({ list: 'api web', live: true });
    await renewTimes(10);
    expect(shown()).toMatchObject({ stale: true, live: false });
  });
});

describe('a page that is not answered yet', () => {
  afterEach(() => vi.unstubAllGlobals());

  it('E7: signs in with new credentials while the former ones are being verified', async () => {
    const rig = new UsersRig();
    let token = 'old';
    let nobody: ((user: undefined) => void) | undefined;
    rig.review = (given) =>
      given === 'new'
        ? ANN
        : new Promise((answer) => {
            nobody = answer;
          });
    const page = rig.page('ann', { credentials: () => ({ token }) });
    const { shown } = followed(page.view(namesOf('a')));
    await rig.pass(500);
    token = 'new';
    page.signedIn('ann');
    await rig.pass(2);
    nobody?.(undefined);
    await rig.pass(2_000);
    expect([page.connection.phase, shown().list]).toEqual(['open', 'api web']);
    expect(rig.users.counts).toEqual({ users: 1, connections: 1, signingIn: 0 });
  });

  it('E7: says nothing before its credentials, also if somebody signs in meanwhile', async () => {
    const rig = new UsersRig();
    const page = rig.page('ann', {
      credentials: () =>
        new Promise((give) => rig.scheduler.schedule(() => give({ token: 't-ann' }), 1_000)),
    });
    const { shown } = followed(page.view(namesOf('a')));
    const phases: string[] = [];
    page.connection$.subscribe(({ phase }) => phases.push(phase));
    await rig.pass(500);
    page.signedIn('ann');
    await rig.pass(5_000);
    expect([phases, shown().list]).toEqual([['connecting', 'open'], 'api web']);
  });

  it('E7: says nothing before its credentials, also if it is hidden and shown meanwhile', async () => {
    const document = Object.assign(new EventTarget(), { visibilityState: 'visible' });
    vi.stubGlobal('document', document);
    // Those of the window.
    for (const name of ['addEventListener', 'removeEventListener'])
      vi.stubGlobal(name, () => undefined);
    const rig = new UsersRig();
    const page = rig.page('ann', {
      credentials: () =>
        new Promise((give) => rig.scheduler.schedule(() => give({ token: 't-ann' }), 1_000)),
    });
    const { shown } = followed(page.view(namesOf('a')));
    const phases: string[] = [];
    page.connection$.subscribe(({ phase }) => phases.push(phase));
    for (const visibilityState of ['hidden', 'visible']) {
      await rig.pass(500);
      Object.assign(document, { visibilityState });
      document.dispatchEvent(new Event('visibilitychange'));
    }
    await rig.pass(5_000);
    expect([phases, shown().list]).toEqual([['connecting', 'open'], 'api web']);
    page.close();
  });

  it('E7: connects if somebody signs in as soon as it is told that nobody is', async () => {
    const rig = new UsersRig();
    let token = 't-none';
    const page = rig.page('ann', { credentials: () => ({ token }) });
    const { shown } = followed(page.view(namesOf('a')));
    page.connection$.subscribe(({ phase }) => {
      if (phase !== 'signed-out' || token === 't-ann') return;
      token = 't-ann';
      page.signedIn('ann');
    });
    await rig.pass(5_000);
    expect([page.connection.phase, shown().list]).toEqual(['open', 'api web']);
  });
});
