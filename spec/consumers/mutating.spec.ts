/**
 * Consumers that change cached objects: an error at the line of the change in development, limited damage in
 * production.
 */
import { addEventHandler, type DeliveryPolicy, deliver, type SharedInformer } from 'rx-informer';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../support/patience.ts';

import {
  added,
  deleted,
  modified,
  type Pod,
  pod,
  scriptedInformer,
} from '../support/scripted-list-watch.ts';
import { gone, rig, STORY, settle } from './rig.ts';
import { unhandled } from './unhandled.ts';

let errors: ReturnType<typeof unhandled>;
beforeEach(() => {
  errors = unhandled();
});
afterEach(() => errors.restore());

const policy: DeliveryPolicy<Pod> = { kind: 'conflate' };
type Spoil = (pod: Pod | undefined) => void;

/** Every way in which a consumer receives an object. */
const holders: Record<string, (informer: SharedInformer<Pod>, spoil: Spoil) => unknown> = {
  changes$: (informer, spoil) =>
    informer.changes$.subscribe(function culprit({ changes }) {
      for (const { object } of changes) spoil(object);
    }),
  added$: (informer, spoil) =>
    informer.added$.subscribe(function culprit(object) {
      spoil(object);
    }),
  updated$: (informer, spoil) =>
    informer.updated$.subscribe(function culprit({ object }) {
      spoil(object);
    }),
  deleted$: (informer, spoil) =>
    informer.deleted$.subscribe(function culprit({ previous }) {
      spoil(previous);
    }),
  snapshot$: (informer, spoil) =>
    informer.snapshot$.subscribe(function culprit(snapshot) {
      spoil(snapshot.list()[0]);
    }),
  'deliver(policy)': (informer, spoil) =>
    deliver(informer, policy).changes$.subscribe(function culprit({ changes }) {
      for (const { object } of changes) spoil(object);
    }),
  'a handler': (informer, spoil) =>
    addEventHandler(
      informer,
      {
        onAdd: spoil,
        onUpdate: (_, object) => spoil(object),
        onDelete: ({ object }) => spoil(object),
      },
      { name: 'culprit' },
    ),
  'an async handler': (informer, spoil) =>
    addEventHandler(informer, { onAdd: async (object) => spoil(object) }, { name: 'culprit' }),
  'the indexer': (informer, spoil) =>
    informer.changes$.subscribe(function culprit() {
      spoil(informer.indexer.getByKey('shop/a'));
      spoil(informer.indexer.byIndex('namespace', 'shop')[0]);
    }),
};

describe('a consumer that changes a cached object', () => {
  it.each(Object.entries(holders))(
    'S16, I3: %s: the change throws at its own line, and the error names the consumer',
    async (_, hold) => {
      const { witnesses, reported, story, stop } = rig(
        (informer) =>
          hold(informer, (pod) => {
            if (pod !== undefined) pod.metadata.resourceVersion = '999';
          }),
        { mutationGuard: 'freeze' },
      );
      await story();
      expect(witnesses).toEqual([STORY, STORY]);
      expect(reported.length).toBeGreaterThan(0);
      for (const { error, subscriber } of reported) {
        expect(subscriber).toBe('culprit');
        expect(String(error)).toMatch(/read only property 'resourceVersion'/);
        expect((error as Error).stack).toContain('mutating.spec.ts');
      }
      await stop();
    },
  );
});

/** Changes that the guard would have prevented. */
const spoils: Record<string, Spoil> = {
  'the labels': (pod) => {
    if (pod !== undefined) pod.metadata.labels = { app: 'spoilt' };
  },
  'the name': (pod) => {
    if (pod !== undefined) pod.metadata.name = 'spoilt';
  },
  'the namespace': (pod) => {
    if (pod !== undefined) pod.metadata.namespace = 'spoilt';
  },
  'the UID': (pod) => {
    if (pod !== undefined) pod.metadata.uid = 'spoilt';
  },
  'the version, to one that the server never reaches': (pod) => {
    if (pod !== undefined) pod.metadata.resourceVersion = '99999';
  },
  'all of its metadata': (pod) => {
    if (pod !== undefined) (pod as { metadata?: unknown }).metadata = undefined;
  },
};

describe('a consumer that changes, without the guard,', () => {
  it.each(Object.entries(spoils))(
    'S16, S62: %s: damages that object until a list contains another version of it, and no other object',
    async (_, spoil) => {
      let spoilt = false;
      const { informer, source, story, reported, stop } = rig(
        (informer) =>
          informer.changes$.subscribe(({ changes }) => {
            const mine = changes.find(({ key }) => key === 'shop/a');
            if (spoilt || mine?.object?.metadata.resourceVersion !== '2') return;
            spoilt = true;
            spoil(mine.object);
          }),
        {
          mutationGuard: 'off',
          indexers: { label: ({ metadata }) => [metadata?.labels?.['app'] ?? 'none'] },
        },
      );
      const others: string[] = [];
      informer.changes$.subscribe(({ changes }) => {
        for (const { key, object, last } of changes) {
          if (key === 'shop/a') continue;
          const version = object?.metadata.resourceVersion;
          others.push(
            object === undefined
              ? `-${key}@${last?.metadata.resourceVersion}`
              : `${key}@${version}`,
          );
        }
      });
      await story();
      expect(spoilt).toBe(true);
      expect(others).toEqual([
        'shop/b@1',
        'shop/c@1',
        'shop/d@3',
        '-shop/b@4',
        'shop/c@5',
        'shop/d@6',
      ]);
      // The store keeps the keys and the index values of its objects itself, so they are not damaged.
      expect([...informer.indexer.listKeys()].sort()).toEqual(['shop/a', 'shop/c', 'shop/d']);
      expect(informer.indexer.indexKeys('label', 'none')).toEqual(['shop/a', 'shop/c', 'shop/d']);
      // A late subscriber receives the contents, including the damaged object.
      let late = 0;
      informer.changes$.subscribe(({ changes }) => {
        late += changes.length;
      });
      expect(late).toBe(3);

      source.listed(20, pod('a', 7), pod('c', 5), pod('d', 6));
      source.fail(gone());
      const held = () =>
        informer.indexer
          .list()
          .map(({ metadata }) => `${metadata?.name}@${metadata?.resourceVersion}`);
      await eventually(() => expect(held().sort()).toEqual(['a@7', 'c@5', 'd@6']));
      await eventually(() => expect(informer.status.live).toBe(true));
      source.send(deleted(pod('a', 21)), added(pod('e', 22)), modified(pod('c', 23)));
      await settle();
      expect([...informer.indexer.listKeys()].sort()).toEqual(['shop/c', 'shop/d', 'shop/e']);
      // Only the witnesses of the rig may throw, because they read metadata that was removed.
      expect(reported.filter(({ subscriber }) => subscriber !== 'a subscriber')).toEqual([]);
      expect(await errors.reports()).toEqual([]);
      await stop();
    },
  );
});

describe('a consumer that changes a part that several versions share, without the guard,', () => {
  const labelled = (name: string, version: number, app = 'web'): Pod => {
    const made = pod(name, version);
    return { ...made, metadata: { ...made.metadata, labels: { app } } };
  };

  async function spoilt() {
    const { source, informer } = scriptedInformer({ mutationGuard: 'off', backoff: () => 0 });
    informer.start();
    source.listed(1, labelled('a', 1), labelled('b', 1));
    await settle();
    const first = informer.indexer.get('shop/a');
    source.send(modified(labelled('a', 2)));
    await settle();
    const second = informer.indexer.get('shop/a');
    if (second?.metadata.labels) second.metadata.labels['app'] = 'spoilt';
    const app = (name: string) => informer.indexer.get(`shop/${name}`)?.metadata.labels?.['app'];
    const receive = async (object: Pod) => {
      source.send(modified(object));
      await settle();
    };
    return { source, informer, first, second, app, receive };
  }

  it('S16, S60, S62: damages that part in the versions that share it, until the part changes or is parsed again', async () => {
    const { informer, first, second, app, receive } = await spoilt();
    expect(second?.metadata.labels).toBe(first?.metadata.labels);
    expect([app('a'), app('b')]).toEqual(['spoilt', 'web']);
    // A decoder may take an unchanged part over from the version before.
    const kept = labelled('a', 3);
    await receive({
      ...kept,
      metadata: { ...kept.metadata, labels: second?.metadata.labels ?? {} },
    });
    expect([app('a'), app('b')]).toEqual(['spoilt', 'web']);
    await receive(labelled('a', 4));
    expect([app('a'), first?.metadata.labels?.['app']]).toEqual(['web', 'spoilt']);
    await informer.stop();
  });

  it('S16, S9, S62: a list with the same version keeps the damage, and the first list of the next run repairs it', async () => {
    const { source, informer, app } = await spoilt();
    source.listed(2, labelled('a', 2), labelled('b', 1));
    await informer.refresh();
    expect(app('a')).toBe('spoilt');
    await informer.stop();
    source.listed(2, labelled('a', 2), labelled('b', 1));
    informer.start();
    await settle();
    expect(app('a')).toBe('web');
    await informer.stop();
  });
});
