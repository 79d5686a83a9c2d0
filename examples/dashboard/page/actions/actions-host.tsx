/** Shows the dialog of an action, the marked rows and what can be taken back. It is loaded when there is one of them. */
import { Suspense } from 'react';
import type { DashboardInfo } from '../../shared/messages.ts';
import { useValue } from '../cluster/use-live.ts';
import { loadedLater } from '../layout/loaded.tsx';
import { asked$, marks$, notice$ } from './asked.ts';

const Actions = loadedLater(async () => (await import('./actions.tsx')).Actions);

export function ActionsHost({ info }: { readonly info: DashboardInfo | undefined }) {
  const asked = useValue(asked$);
  const notice = useValue(notice$);
  const marks = useValue(marks$);
  if (info === undefined || (marks.size === 0 && !asked && !notice)) return null;
  return (
    <Suspense>
      <Actions info={info} asked={asked} notice={notice} marks={marks} />
    </Suspense>
  );
}
