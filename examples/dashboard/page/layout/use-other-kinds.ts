/** The kinds that only discovery knows. The server of the dashboard asks the cluster each time, because a definition may be new. */
import { useFetch } from '@mantine/hooks';
import { useMemo } from 'react';
import type { ServedKind } from '../../shared/kinds.ts';
import type { Kind } from '../kinds/kind.ts';
import { idOfServed, otherKind } from '../kinds/other-kinds.ts';

function kindsOf(served: ServedKind): Kind | readonly [] {
  const kind = otherKind(idOfServed(served));
  return kind === undefined ? [] : { ...kind, shortNames: served.shortNames };
}

export function useOtherKinds(): readonly Kind[] {
  const { data } = useFetch<readonly ServedKind[]>('/dashboard/kinds');
  return useMemo(() => (data ?? []).flatMap(kindsOf), [data]);
}
