/** Which rights the user lacks for actions. */
import { useEffect, useState } from 'react';
import { client } from '../cluster/cluster.ts';
import type { Action, Named } from './action.ts';
import { lackingIn, type Place, rightWords } from './rights.ts';

/** The missing right of each action that cannot be done, in words, by the id of the action. `isAsked`: whether to ask at all. */
export function useLacks(
  resource: Named,
  actions: readonly Action[],
  places: readonly Place[],
  isAsked = true,
): ReadonlyMap<string, string> {
  const [lacks, setLacks] = useState<ReadonlyMap<string, string>>(new Map());
  const key = JSON.stringify([
    resource.group,
    resource.plural,
    actions.map(({ id }) => id),
    places,
  ]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for all of them
  useEffect(() => {
    if (!isAsked) return;
    const ending = new AbortController();
    const lackOf = async (action: Action) => {
      const right = action.right(resource);
      const [place] = await lackingIn(client, right, places, ending.signal);
      return place === undefined ? [] : [[action.id, rightWords(right, place)] as const];
    };
    void Promise.all(actions.map(lackOf)).then((found) => {
      if (!ending.signal.aborted) setLacks(new Map(found.flat()));
    });
    return () => ending.abort();
  }, [key, isAsked]);
  return lacks;
}
