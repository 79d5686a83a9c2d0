/** The kinds that only discovery knows. The server of the dashboard asks the cluster each time, because a definition may be new. */
import { useEffect, useState } from 'react';
import type { ServedKind } from '../../shared/kinds.ts';
import type { Kind } from '../kinds/kind.ts';
import { idOfServed, otherKind } from '../kinds/other-kinds.ts';

async function otherKinds(): Promise<readonly Kind[]> {
  const answer = await fetch('/dashboard/kinds');
  const served = answer.ok ? ((await answer.json()) as readonly ServedKind[]) : [];
  return served.flatMap((each) => {
    const kind = otherKind(idOfServed(each));
    return kind === undefined ? [] : { ...kind, shortNames: each.shortNames };
  });
}

export function useOtherKinds(): readonly Kind[] {
  const [kinds, setKinds] = useState<readonly Kind[]>([]);
  useEffect(() => void otherKinds().then(setKinds, () => undefined), []);
  return kinds;
}
