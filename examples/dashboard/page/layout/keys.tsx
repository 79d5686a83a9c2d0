/** The keys of the whole page, and the dialogs that two of them open. The dialogs are loaded when they are opened first. */
import { useHotkeys } from '@mantine/hooks';
import { Suspense } from 'react';
import { go, page$ } from '../cluster/page-state.ts';
import { useValue } from '../cluster/use-live.ts';
import { toggleTroubles } from '../panels/use-troubles.ts';
import { dialog$, focusFilter, focusTable } from './focus.ts';
import { loadedLater } from './loaded.tsx';

const Jump = loadedLater(async () => (await import('./jump.tsx')).Jump);
const KeyList = loadedLater(async () => (await import('./key-list.tsx')).KeyList);

/** The arrows begin in the table while the keyboard is nowhere. */
function enterTable(event: KeyboardEvent): void {
  const { role = null, tabIndex = -1 } = (document.activeElement as HTMLElement | null) ?? {};
  if (role !== null || tabIndex >= 0) return;
  event.preventDefault();
  focusTable();
}

const jump = () => dialog$.next('jump');

export function KeysOfPage() {
  const dialog = useValue(dialog$);
  const isShut = dialog === '';
  // Keyboards differ in which of these need the shift key.
  useHotkeys(
    isShut
      ? [
          ['/', focusFilter],
          ['shift+/', focusFilter],
          [':', jump],
          ['shift+:', jump],
          ['?', () => dialog$.next('keys')],
          ['shift+?', () => dialog$.next('keys')],
          ['ArrowDown', enterTable, { preventDefault: false }],
          ['ArrowUp', enterTable, { preventDefault: false }],
          ['shift+t', toggleTroubles],
          ['t', () => go({ tone: page$.value.tone === 'bad' ? '' : 'bad' })],
        ]
      : [],
  );
  // Also while the user writes.
  useHotkeys(isShut ? [['mod+K', jump]] : [], []);
  if (isShut) return null;
  const close = () => dialog$.next('');
  return (
    <Suspense>
      {dialog === 'jump' ? <Jump onClose={close} /> : <KeyList onClose={close} />}
    </Suspense>
  );
}
