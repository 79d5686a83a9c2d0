/** Edits that are shown before the watch has them: on a newer state of the object, in their machine, and what they keep once they are sent. */

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { deployments } from 'rx-informer/resources';
import { asyncScheduler } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { mergeDraft } from '../../../lib/factory/edits/merge-draft.ts';
import {
  type EditInput,
  nextEdits,
  type PendingEdit,
  shownObject,
} from '../../../lib/factory/edits/pending-edits.ts';
import { SentEdits } from '../../../lib/factory/edits/sent-edits.ts';

describe('the draft on a newer state', () => {
  it('V22: keeps what others have changed, and the objects that nobody has changed', () => {
    const labels = { app: 'web' };
    const base = { labels, spec: { replicas: 1, image: 'a', list: [1, 2] }, gone: 1 };
    const draft = { labels, spec: { replicas: 2, image: 'a', list: [1, 2, 3] } };
    const now = { labels, spec: { replicas: 1, image: 'b', list: [0] }, gone: 2, added: 1 };
    const merged = mergeDraft<unknown>(base, draft, now);
    expect(merged).toEqual({
      labels,
      spec: { replicas: 2, image: 'b', list: [1, 2, 3] },
      added: 1,
    });
    expect((merged as typeof base).labels).toBe(labels);
  });

  it('V12: is the newer state itself if that has the changes already', () => {
    const now = { spec: { replicas: 2, list: [1, 2] }, more: true };
    const draft = { spec: { replicas: 2, list: [1, 2] } };
    expect(mergeDraft<unknown>({ spec: { replicas: 1, list: [] } }, draft, now)).toBe(now);
  });

  it('V12: a field that is named __proto__ changes no prototype', () => {
    const draft = JSON.parse('{"a": {"__proto__": {"polluted": true}}}');
    const merged = mergeDraft<unknown>({ a: {} }, draft, { a: {}, b: 1 });
    expect(Object.getPrototypeOf((merged as { a: object }).a)).toBe(Object.prototype);
    expect(JSON.stringify(merged)).toContain('__proto__');
  });

  it('V22: items that another writer deleted stay deleted, also if the list is gone with them', () => {
    const base: { finalizers?: string[] } = { finalizers: ['x/old'] };
    const draft = { finalizers: ['x/old', 'x/mine'] };
    for (const now of [{}, { finalizers: [] }]) {
      expect(mergeDraft(base, draft, now)).toEqual({ finalizers: ['x/mine'] });
    }
    expect(mergeDraft(base, { finalizers: [] }, {})).toEqual({ finalizers: [] });
  });

  it('V22: a draft adds to a map or a list that another writer has added meanwhile', () => {
    const draft = { labels: { a: '1' }, finalizers: ['x/a'] };
    const now = { labels: { b: '2' }, finalizers: ['x/b'] };
    expect(mergeDraft<unknown>({}, draft, now)).toEqual({
      labels: { b: '2', a: '1' },
      finalizers: ['x/b', 'x/a'],
    });
  });

  it('V22: keeps the list of another writer if the draft has only another copy of it', () => {
    const merged = mergeDraft<unknown>(
      { args: ['a'], replicas: 1 },
      { args: ['a'], replicas: 2 },
      { args: ['a', 'b'], replicas: 1 },
    );
    expect(merged).toEqual({ args: ['a', 'b'], replicas: 2 });
  });
});

describe('the draft on a newer state of a list', () => {
  const merged = (field: string, base: unknown, draft: unknown, now: unknown) =>
    (
      mergeDraft({ [field]: base }, { [field]: draft }, { [field]: now }) as Record<string, unknown>
    )[field];
  const letters = (text: string) => [...text].map((name) => ({ name }));
  const image = (name: string, version: number) => ({ name, image: `${name}:${version}` });
  const port = (containerPort: number, name: string, protocol?: string) => ({
    containerPort,
    name,
    ...(protocol !== undefined && { protocol }),
  });

  const keyed: readonly (readonly [string, string, unknown, unknown, unknown, unknown])[] = [
    [
      'two containers, each changed by another writer',
      'containers',
      [image('a', 1), image('b', 1)],
      [image('a', 2), image('b', 1)],
      [image('a', 1), image('b', 2)],
      [image('a', 2), image('b', 2)],
    ],
    [
      'items that both have added',
      'env',
      letters('a'),
      letters('ax'),
      letters('ay'),
      letters('ayx'),
    ],
    [
      'an item between others',
      'env',
      letters('ab'),
      letters('axb'),
      letters('aybz'),
      letters('ayxbz'),
    ],
    ['an item at the begin', 'volumes', letters('a'), letters('xa'), letters('ay'), letters('xay')],
    [
      'an item that the draft has removed',
      'volumes',
      letters('abc'),
      letters('ac'),
      letters('abcy'),
      letters('acy'),
    ],
    [
      'an item that the other writer has removed',
      'volumes',
      letters('abc'),
      letters('abcx'),
      letters('bc'),
      letters('bcx'),
    ],
    [
      'items that the draft has moved',
      'initContainers',
      letters('abc'),
      letters('cab'),
      letters('abyc'),
      letters('ycab'),
    ],
    [
      'items that the other writer has moved',
      'env',
      letters('abc'),
      letters('abcx'),
      letters('cab'),
      letters('cabx'),
    ],
    [
      'ports, whose protocol the server fills in',
      'ports',
      [port(53, 'tcp'), port(53, 'udp', 'UDP')],
      [port(53, 'dns'), port(53, 'udp', 'UDP')],
      [port(53, 'tcp', 'TCP'), port(53, 'other', 'UDP')],
      [port(53, 'dns', 'TCP'), port(53, 'other', 'UDP')],
    ],
    [
      'ports of a Service',
      'ports',
      [{ port: 80 }],
      [{ port: 80, name: 'web' }],
      [{ port: 80 }, { port: 81 }],
      [{ port: 80, name: 'web' }, { port: 81 }],
    ],
    [
      'an item whose key is __proto__',
      'conditions',
      [],
      [{ type: '__proto__' }, { type: '2' }, { type: '1' }],
      [{ type: 'constructor' }],
      [{ type: 'constructor' }, { type: '__proto__' }, { type: '2' }, { type: '1' }],
    ],
    ['finalizers', 'finalizers', ['x/a', 'x/b'], ['x/b'], ['x/a', 'x/b', 'x/c'], ['x/b', 'x/c']],
  ];
  it.each(keyed)('V22: is merged by its key: %s', (_, field, base, draft, now, expected) => {
    expect(merged(field, base, draft, now)).toEqual(expected);
  });

  it.each([
    ['volumeMounts', 'mountPath'],
    ['volumeDevices', 'devicePath'],
    ['hostAliases', 'ip'],
    ['conditions', 'type'],
    ['ownerReferences', 'uid'],
    ['ephemeralContainers', 'name'],
    ['webhooks', 'name'],
  ])('V22: %s are merged by %s', (field, key) => {
    const item = (of: string, value: number) => ({ [key]: of, value });
    expect(
      merged(field, [item('a', 1), item('b', 1)], [item('a', 2), item('b', 1)], [item('b', 3)]),
    ).toEqual([item('a', 2), item('b', 3)]);
  });

  const replaced: readonly (readonly [string, string, unknown, unknown, unknown])[] = [
    ['no key is known', 'args', ['a'], ['a', 'x'], ['a', 'y']],
    ['an item has no key', 'env', [{}], [{ value: 'x' }], [{ value: 'y' }]],
    ['an item is no object', 'env', [1], [1, 2], [3]],
    ['two items have one key', 'env', letters('a'), letters('aax'), letters('ay')],
    ['it was something else', 'env', 'a', letters('x'), letters('y')],
  ];
  it.each(replaced)('V22: is that of the draft if %s', (_, field, base, draft, now) => {
    expect(merged(field, base, draft, now)).toEqual(draft);
  });

  it('V22: is the newer list itself if that has the changes already', () => {
    const now = [image('b', 2), image('a', 2)];
    expect(merged('containers', [image('a', 1)], [image('a', 2)], now)).toBe(now);
  });
});

interface Scaled {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
  };
  readonly spec: { readonly replicas: number; readonly paused?: boolean };
}

const scaled = (resourceVersion: string, replicas: number, paused?: boolean): Scaled => ({
  metadata: { name: 'web', uid: 'u1', resourceVersion },
  spec: { replicas, ...(paused === undefined ? {} : { paused }) },
});

const to = (id: number, base: Scaled, draft: Scaled): EditInput => ({
  type: 'begun',
  edit: { id, base, draft },
});
const written = (id: number, object: Scaled): EditInput => ({ type: 'written', id, object });

describe('the edits of an object', () => {
  const at5 = scaled('5', 1);
  const edited = to(1, at5, scaled('5', 4));
  const other = to(2, scaled('5', 4), scaled('5', 4, true));

  const table: readonly (readonly [string, readonly EditInput[], Scaled, unknown])[] = [
    ['no edit', [], at5, { replicas: 1 }],
    ['an edit that was sent', [edited], at5, { replicas: 4 }],
    [
      'an event of another writer before the answer',
      [edited],
      scaled('6', 1, true),
      { replicas: 4, paused: true },
    ],
    ['the echo before the answer', [edited], scaled('7', 4), { replicas: 4 }],
    ['an answer without an echo', [edited, written(1, scaled('7', 4))], at5, { replicas: 4 }],
    [
      'an event that is older than the answer',
      [edited, written(1, scaled('7', 4))],
      scaled('6', 1),
      { replicas: 4 },
    ],
    ['the echo', [edited, written(1, scaled('7', 4))], scaled('7', 4), { replicas: 4 }],
    [
      'a later change of another writer',
      [edited, written(1, scaled('7', 4))],
      scaled('8', 2),
      { replicas: 2 },
    ],
    ['an error', [edited, { type: 'ended', id: 1 }], at5, { replicas: 1 }],
    ['two edits', [edited, other], at5, { replicas: 4, paused: true }],
    [
      'an error of the first of two edits',
      [edited, other, { type: 'ended', id: 1 }],
      at5,
      { replicas: 1, paused: true },
    ],
    [
      'the echo of the first of two edits',
      [edited, other, written(1, scaled('7', 4))],
      scaled('7', 4),
      { replicas: 4, paused: true },
    ],
    [
      'versions that cannot be compared',
      [edited, written(1, scaled('x7', 4))],
      scaled('x5', 1),
      { replicas: 1 },
    ],
  ];
  it.each(table)('V12: %s', (_, inputs, source, spec) => {
    const edits = inputs.reduce(nextEdits, [] as readonly PendingEdit[]);
    expect(shownObject(edits, source as never)).toMatchObject({ metadata: source.metadata, spec });
  });

  it('V12: an edit ends when all sources have its version, or do not have the object, and not before the answer', () => {
    const sent = [edited].reduce(nextEdits, [] as readonly PendingEdit[]);
    const observed = (versions: readonly string[]): EditInput => ({ type: 'observed', versions });
    expect(nextEdits(sent, observed(['9'])).length).toBe(1);
    const answered = nextEdits(sent, written(1, scaled('7', 4)));
    expect(nextEdits(answered, observed(['7', '6'])).length).toBe(1);
    expect(nextEdits(answered, observed(['7', '8']))).toEqual([]);
    expect(nextEdits(answered, observed([]))).toEqual([]);
  });
});

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;

const web = {
  ...{ resource: deployments, target: 'shop/web', signal: undefined, draft: undefined },
  timeoutMs: Number.POSITIVE_INFINITY,
};

it('V13: an edit waits for the one before it, also if an earlier one has ended', async () => {
  const edits = new SentEdits(asyncScheduler);
  const sent: (() => void)[] = [];
  const add = () =>
    void edits.add({ ...web, send: () => new Promise<void>((resolve) => sent.push(resolve)) });
  const turn = () => new Promise(setImmediate);
  const counts: number[] = [];
  add();
  add();
  for (const _ of [1, 2]) {
    sent.at(-1)?.();
    await turn();
    add();
    await turn();
    counts.push(sent.length);
  }
  expect(counts).toEqual([2, 3]);
});

it('B12: edits of one object that overlap without end keep no answers', async () => {
  const edits = new SentEdits(asyncScheduler);
  const answers: WeakRef<object>[] = [];
  const edit = (released?: Promise<void>) =>
    edits.add({
      ...web,
      send: async () => {
        await released;
        const answer = { large: 'x' };
        answers.push(new WeakRef(answer));
        return answer;
      },
    });
  let current: Promise<unknown> = edit();
  for (let at = 0; at < 100; at++) {
    const next = edit();
    await current;
    current = next;
  }
  let release = () => {};
  const last = edit(
    new Promise((resolve) => {
      release = resolve;
    }),
  );
  current = last;
  // A turn of the event loop, because references that were read stay until its end.
  await new Promise(setImmediate);
  gc();
  expect(answers.length).toBeGreaterThan(99);
  expect(answers.filter((each) => each.deref() !== undefined).length).toBeLessThan(5);
  release();
  await last;
});
