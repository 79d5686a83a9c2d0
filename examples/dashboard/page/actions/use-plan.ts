/** Reads the objects of an action, sends it as a dry run, and then sends it. */
import { useEffect, useState } from 'react';
import {
  ApiError,
  createResourceClient,
  type Resource,
  type Stored,
  type WriteOptions,
} from 'rx-informer';
import { client } from '../cluster/cluster.ts';
import { errorWords } from '../cluster/error-words.ts';
import type { ObjectName } from '../cluster/page-state.ts';
import {
  type Accepted,
  type Action,
  type Chosen,
  changed,
  type Target,
  Unneeded,
} from './action.ts';

export interface Item {
  readonly of: ObjectName;
  readonly object?: Stored<Target>;
  readonly accepted?: Accepted;
  readonly done?: Accepted;
  readonly problem?: string;
}

const problemOf = (error: unknown) =>
  error instanceof Unneeded ? error.message : errorWords(ApiError.from(error, 'The action'));

/** `isReady`: the user has chosen all that the action asks for. */
export function usePlan(
  action: Action,
  resource: Resource<never>,
  targets: readonly ObjectName[],
  chosen: Chosen,
  isReady: boolean,
) {
  const [items, setItems] = useState<readonly Item[]>(() => targets.map((of) => ({ of })));
  const [round, setRound] = useState(0);
  const [isChecking, setChecking] = useState(true);
  const [isSending, setSending] = useState(false);
  const calls = createResourceClient(client, resource as Resource<Target>);

  const call = (object: Stored<Target>, options: WriteOptions) =>
    action.send({ client, calls, options }, object, chosen);

  const check = async (item: Item, signal: AbortSignal): Promise<Item> => {
    const { of, done, accepted: _accepted, problem: _problem, ...read } = item;
    if (done !== undefined) return item;
    const { name, namespace, uid } = of;
    try {
      const target = { name, ...(namespace === '' ? {} : { namespace }) };
      const object = await calls.get(target, { signal });
      if (object.metadata.uid !== uid) throw changed(object, 'is another object of this name now');
      if (!isReady) return { of, object };
      return { of, object, accepted: await call(object, { signal, dryRun: true }) };
    } catch (error) {
      return { ...read, of, problem: problemOf(error) };
    }
  };

  // biome-ignore lint/correctness/useExhaustiveDependencies: the dialog of one action never gets other objects
  useEffect(() => {
    const ending = new AbortController();
    setChecking(true);
    void Promise.all(items.map((item) => check(item, ending.signal))).then((checked) => {
      if (ending.signal.aborted) return;
      setItems(checked);
      setChecking(false);
    });
    return () => ending.abort();
  }, [round, chosen, isReady]);

  const sent = async (item: Item): Promise<Item> => {
    const { of, object, accepted } = item;
    if (object === undefined || accepted === undefined) return item;
    try {
      return { of, object, done: await call(object, {}) };
    } catch (error) {
      return { of, object, problem: problemOf(error) };
    }
  };
  const send = async () => {
    setSending(true);
    const after = await Promise.all(items.map(sent));
    setItems(after);
    setSending(false);
    return after;
  };
  // `again` reads the objects again that are not done, and `send` sends the action for those that the server has accepted.
  return { items, isChecking, isSending, again: () => setRound(round + 1), send };
}
