/** Handlers with a filter, `filteringEventHandler`. */
import { addEventHandler, filteringEventHandler, type ResourceEventHandler } from 'rx-informer';
import { describe, expect, it } from 'vitest';
import {
  added,
  deleted,
  modified,
  type Pod,
  pod,
  scriptedInformer,
} from '../support/scripted-list-watch.ts';
import { logging, settle } from './handler-rig.ts';

const web = (version: number, tier: string, name = 'web', uid = name): Pod => {
  const object = pod(name, version, uid);
  return { ...object, metadata: { ...object.metadata, labels: { tier } } };
};

function filtered(filter: (object: Pod) => boolean, handler: ResourceEventHandler<Pod>) {
  const errors: string[] = [];
  const { source, informer } = scriptedInformer({
    onUnhandledError: (error, { subscriber, key }) =>
      errors.push(`${subscriber} ${key} ${String(error)}`),
  });
  const registration = addEventHandler(informer, filteringEventHandler({ filter, handler }), {
    name: 'shown',
  });
  return { source, informer, errors, registration };
}

const isWeb = ({ metadata }: Pod) => metadata.labels?.tier === 'web';

describe('a filtering handler', () => {
  it('I23: an update that crosses the filter is an add or a delete, the delete with the last state that was received', () => {
    const log: string[] = [];
    const { source, informer } = filtered(isWeb, logging(log));
    source.listed(1, web(1, 'web'), web(1, 'db', 'db'));
    informer.start();
    source.send(modified(web(2, 'web')));
    source.send(modified(web(3, 'db')));
    source.send(modified(web(4, 'db')));
    source.send(modified(web(5, 'web')));
    source.send(deleted(web(6, 'db')));
    source.send(deleted(web(7, 'web', 'db')));
    expect(log).toEqual([
      '+web@1* initial',
      '~web@1>2 watch',
      '-web@2 watch',
      '+web@5 watch',
      // The deletion of `web` is delivered, although its tombstone does not match. That of `db` is not, because `db`
      // was never delivered.
      '-web@6 watch',
    ]);
  });

  it('I23: a filter that returns a Promise counts as one that throws', async () => {
    const log: string[] = [];
    const { source, informer, errors } = filtered((async () => true) as never, logging(log));
    source.listed(1, web(1, 'web'));
    informer.start();
    expect(log).toEqual([]);
    await settle();
    expect(errors).toEqual([
      expect.stringMatching(
        /^shown shop\/web TypeError: filter returned a Promise; it must return sync/,
      ),
    ]);
  });

  it('I23: a missed deletion and a recreation pass the filter, which never receives a tombstone', async () => {
    const log: string[] = [];
    const asked: unknown[] = [];
    const filter = (object: Pod) => {
      asked.push(object.metadata.name);
      return isWeb(object);
    };
    const { source, informer } = filtered(filter, logging(log));
    source.listed(1, web(1, 'web'));
    informer.start();
    source.send(added(web(3, 'web', 'web', 'second')));
    await informer.stop();
    source.listed(9);
    informer.start();
    expect(log).toEqual(['+web@1* initial', '-web@1? watch', '+web@3 watch', '-web@3? initial']);
    expect(asked).not.toContain(undefined);
  });

  it('I23: a delete made of an update carries the key, the UID and the last state that was received', () => {
    const seen: unknown[] = [];
    const handler = filteringEventHandler<Pod>({
      filter: isWeb,
      handler: { onDelete: (deletion, { cause }) => seen.push(deletion, cause) },
    });
    const before = web(1, 'web');
    const notification = { key: 'shop/web', cause: 'relist', isInInitialList: false } as const;
    handler.onUpdate?.(before, web(2, 'db'), notification);
    const base = { key: 'shop/web', uid: 'web', previous: before, object: before };
    expect(seen).toEqual([{ ...base, finalStateUnknown: false }, 'relist']);
  });

  it('I3, I23: a filter that throws is reported and lets nothing through, and adds and deletes stay balanced', () => {
    const log: string[] = [];
    const filter = ({ metadata }: Pod) => {
      if (metadata.labels?.tier === 'bad') throw new Error('no tier');
      return true;
    };
    const { source, informer, errors, registration } = filtered(filter, logging(log));
    source.listed(1, web(1, 'bad', 'db'), web(1, 'web'));
    informer.start();
    expect(registration.hasSynced).toBe(true);
    source.send(modified(web(2, 'bad')));
    source.send(modified(web(3, 'web')), modified(web(3, 'web', 'db')));
    expect(log).toEqual(['+web@1* initial', '-web@1 watch', '+web@3 watch', '+db@3 watch']);
    const at = (key: string) => `shown ${key} Error: no tier`;
    expect(errors).toEqual([at('shop/db'), at('shop/web')]);
  });

  it('I19, I23: returns the promises of its handler, and calls the filter once for a resync', async () => {
    let asked = 0;
    const { source, informer, errors, registration } = filtered(
      (object) => {
        asked++;
        if (object.metadata.labels?.tier === 'bad') throw new Error('no tier');
        return true;
      },
      { onAdd: () => settle(), onDelete: () => settle() },
    );
    source.listed(1, web(1, 'web'));
    informer.start();
    expect(registration.hasSynced).toBe(false);
    await registration.whenSynced();
    source.send(modified(web(2, 'bad')));
    expect(errors).toEqual([]);
    await settle();
    await settle();
    expect(errors).toEqual(['shown shop/web Error: no tier']);
    const handler = filteringEventHandler<Pod>({ filter: () => asked++ < 0, handler: {} });
    asked = 0;
    const same = web(1, 'web');
    const notification = { key: 'shop/web', cause: 'resync', isInInitialList: false } as const;
    handler.onUpdate?.(same, same, notification);
    expect(asked).toBe(1);
  });

  it('I23: a filter that throws at a deletion is reported', () => {
    const log: string[] = [];
    let isBroken = false;
    const filter = () => {
      if (isBroken) throw new Error('no filter');
      return true;
    };
    const { source, informer, errors } = filtered(filter, logging(log));
    source.listed(1, pod('a', 1));
    informer.start();
    isBroken = true;
    source.send(deleted(pod('a', 2)));
    expect(log).toEqual(['+a@1* initial']);
    expect(errors).toEqual(['shown shop/a Error: no filter']);
  });

  it('I3, I23: if the filter and the handler fail in one call, one error reports both', async () => {
    const failing = (how: 'throws' | 'rejects') => {
      const errors: unknown[] = [];
      const { source, informer } = scriptedInformer({
        onUnhandledError: (error) => errors.push(error),
      });
      addEventHandler(
        informer,
        filteringEventHandler<Pod>({
          filter: ({ metadata }) => {
            if (metadata.labels?.tier === 'bad') throw new RangeError('no tier');
            return true;
          },
          handler: {
            onDelete: () => {
              const error = new Error('not deleted');
              if (how === 'throws') throw error;
              return Promise.reject(error);
            },
          },
        }),
      );
      source.listed(1, web(1, 'web'));
      informer.start();
      source.send(modified(web(2, 'bad')));
      return { errors, informer };
    };
    for (const how of ['throws', 'rejects'] as const) {
      const { errors, informer } = failing(how);
      await settle();
      await settle();
      expect(errors).toHaveLength(1);
      const [both] = errors as AggregateError[];
      expect(both).toBeInstanceOf(AggregateError);
      expect(both?.errors.map(String)).toEqual(['RangeError: no tier', 'Error: not deleted']);
      expect(both?.message).toBe('filter and onDelete failed: no tier; not deleted');
      await informer.stop();
    }
  });
});
