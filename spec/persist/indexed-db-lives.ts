/**
 * Random lives of tabs and workers that share one database of snapshots, of two users and two programs. Whatever is read must
 * be a state that was written as a whole, by the same user, in the present era.
 */
import type { SnapshotStore } from 'rx-informer';
import { seededRandom } from 'rx-informer/testing';
import { IndexedDbStore } from '../../lib/persist/indexed-db/indexed-db-store.ts';
import { Ownership } from '../../lib/persist/indexed-db/ownership.ts';
import { type Client, FakeBrowser } from './fake-browser.ts';

const KEYS = ['shop/a', 'shop/b', 'shop/c', 'shop/d', 'shop/e'];
const IDS = ['pods', 'services'];
type Contents = ReadonlyMap<string, string>;

/** A try to write, whose version nobody else has. */
interface Attempt {
  readonly by: Life;
  readonly id: string;
  readonly contents: Contents;
}

/** A tab or a worker. */
interface Life {
  readonly client: Client;
  readonly store: SnapshotStore;
  readonly user: string;
  readonly app: string;
  /** What it believes is stored, by id. */
  readonly known: Map<string, Contents>;
  /** The forgets of its user that were complete, or in progress, when its first call was. */
  enteredAt: number | undefined;
  isDead: boolean;
  isBusy: boolean;
}

/** What was wrong, and how often each outcome was seen. */
export interface Lived {
  readonly wrong: string[];
  readonly seen: Map<string, number>;
}

const shown = (contents: Contents) =>
  [...contents]
    .sort()
    .map((each) => each.join('='))
    .join(' ');

async function turns(count: number): Promise<void> {
  for (let left = count; left > 0; left--) await new Promise((resolve) => setImmediate(resolve));
}

export async function live(seed: number): Promise<Lived> {
  const random = seededRandom(seed);
  const pick = <V>(values: readonly V[]): V => values[Math.floor(random() * values.length)] as V;
  const browser = new FakeBrowser(random);
  const hasLocks = random() < 0.8;
  const wrong: string[] = [];
  const seen = new Map<string, number>();
  const note = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1);
  const told = (what: string) => wrong.push(`seed ${seed}: ${what}`);
  const attempts = new Map<string, Attempt>();
  const lives: Life[] = [];
  /** The clock of forgets: each begins and ends at a time of its own. */
  let clock = 0;
  let lastForgotten = new Map<string, number>();
  let lastWriter: Life | undefined;
  /** Whose place a living writer has taken in this era. */
  const outOf = new Set<Life>();
  let version = 0;

  const anotherEra = () => {
    lastWriter = undefined;
    outOf.clear();
  };
  const begin = () => {
    const user = random() < 0.85 ? 'ann' : 'bob';
    const app = pick(['1', '2']);
    const client = browser.client(hasLocks);
    const store = new IndexedDbStore(new Ownership('db', user, client.scope), app);
    const life = { client, store, user, app, known: new Map(), enteredAt: undefined };
    lives.push({ ...life, isDead: false, isBusy: false });
  };
  const read = async (life: Life) => {
    const id = pick(IDS);
    const forgotten = new Map(lastForgotten);
    const stored = await life.store.read(id);
    if (stored === undefined) {
      note('cold');
      life.known.delete(id);
      return;
    }
    const contents = new Map<string, string>();
    // The informer asks the server meanwhile which cluster it is.
    await turns(random() * 60);
    for await (const part of stored.parts) {
      for (const json of part) {
        const text = new TextDecoder().decode(json);
        contents.set((JSON.parse(text) as { key: string }).key, text);
      }
    }
    note('warm');
    const attempt = attempts.get(stored.resourceVersion);
    if (attempt === undefined) return told(`read ${stored.resourceVersion}, which nobody wrote`);
    if (attempt.id !== id) told(`read ${attempt.id} as ${id}`);
    if (attempt.by.user !== life.user) told(`${life.user} read what ${attempt.by.user} wrote`);
    if (stored.head !== `${attempt.by.user} ${attempt.by.app}`)
      told(`read the head ${stored.head}`);
    if (shown(contents) !== shown(attempt.contents))
      told(`read ${shown(contents)} as ${stored.resourceVersion}: ${shown(attempt.contents)}`);
    const from = attempt.by.enteredAt ?? Number.POSITIVE_INFINITY;
    if (from < (forgotten.get(life.user) ?? -1))
      told('read what was written before it was forgotten');
    life.known.set(id, contents);
    return undefined;
  };
  const write = async (life: Life) => {
    const id = pick(IDS);
    const base = life.known.get(id);
    const replaces = base === undefined || random() < 0.1;
    const after = new Map(replaces ? [] : base);
    const resourceVersion = String(++version);
    const changed = KEYS.filter(() => random() < 0.5);
    const deleted = replaces ? [] : changed.filter(() => random() < 0.3);
    for (const key of changed) {
      if (deleted.includes(key)) after.delete(key);
      else after.set(key, JSON.stringify({ key, version }));
    }
    attempts.set(resourceVersion, { by: life, id, contents: after });
    const objects = [...after]
      .filter(([key]) => replaces || changed.includes(key))
      .map(([key, text]) => [key, new TextEncoder().encode(text)] as const);
    life.known.delete(id);
    const writer = lastWriter;
    const head = `${life.user} ${life.app}`;
    const savedAtMs = version;
    const change = { head, resourceVersion, savedAtMs, replaces, objects, deleted };
    const result = await life.store.write(id, change);
    note(result ?? 'written');
    if (result !== undefined) return;
    life.known.set(id, after);
    if (outOf.has(life)) told('a writer whose place another one has taken has written');
    if (writer !== undefined && writer !== life && writer.user === life.user && !writer.isDead) {
      note('taken over');
      if (hasLocks && writer.app === life.app) told('there are two living writers of one program');
      outOf.add(writer);
    }
    lastWriter = life;
  };
  const forget = async (life: Life) => {
    const at = ++clock;
    anotherEra();
    await life.store.forget?.(life.user);
    anotherEra();
    note('forgotten');
    life.known.clear();
    life.enteredAt = undefined;
    lastForgotten = new Map(lastForgotten).set(life.user, at);
  };
  const act = async (life: Life) => {
    life.isBusy = true;
    const dice = random();
    try {
      const isEntering = life.enteredAt === undefined;
      // Another user may have entered before, whose entry has deleted everything.
      if (isEntering) anotherEra();
      if (dice < 0.35) await read(life);
      else if (dice < 0.9) await write(life);
      else if (dice < 0.94) await life.store.delete(pick(IDS)).then(() => life.known.clear());
      else await forget(life);
      if (isEntering && dice < 0.94) {
        anotherEra();
        life.enteredAt = ++clock;
      }
    } catch (error) {
      if (life.isDead) return;
      const { name, message } = error as Error;
      note(name === 'QuotaExceededError' ? 'full' : message);
      if (!/Quota|missing|another tab has changed/.test(`${name} ${message}`))
        told(`${name} ${message}`);
      life.known.clear();
    }
    life.isBusy = false;
  };
  const damage = () => {
    const objects = browser.databases.get('db')?.stores.get('objects');
    const at = Math.floor(random() * (objects?.length ?? 0));
    if (objects?.[at] === undefined) return;
    note('damaged');
    if (random() < 0.5) objects.splice(at, 1);
    else objects[at] = [objects[at]?.[0] ?? '', { key: 'shop/a' }];
  };
  for (let step = 0; step < 120; step++) {
    const dice = random();
    const living = lives.filter(({ isDead }) => !isDead);
    const life = pick(living);
    if (life === undefined || (dice < 0.08 && living.length < 4)) begin();
    else if (dice < 0.13) {
      note('killed');
      life.isDead = true;
      life.client.kill();
    } else if (dice < (browser.isFull ? 0.35 : 0.14)) browser.isFull = !browser.isFull;
    else if (dice > 0.99) damage();
    else if (!life.isBusy) void act(life);
    await turns(random() * 40);
  }
  // Nothing hangs: every call of a living client has ended.
  await turns(3_000);
  for (const life of lives) if (!life.isDead && life.isBusy) told('a call has not ended');
  for (const { client } of lives) client.kill();
  return { wrong, seen };
}
