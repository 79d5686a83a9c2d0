/** Where the keyboard goes: the filter, the table, and the dialogs of keys. */
import { BehaviorSubject } from 'rxjs';

/** The open dialog; '' if none is. */
export const dialog$ = new BehaviorSubject<'' | 'jump' | 'keys'>('');

export const FILTER_ID = 'filter';

export function focusTable(): void {
  document.querySelector<HTMLElement>('[role=grid],[role=treegrid]')?.focus();
}

let isAwaited = false;

/** The table that is shown next takes the keyboard. */
export function awaitTable(): void {
  isAwaited = true;
}

export function takesKeyboard(): boolean {
  const takes = isAwaited;
  isAwaited = false;
  return takes;
}

export function focusFilter(): void {
  const box = document.getElementById(FILTER_ID);
  if (!(box instanceof HTMLInputElement)) return;
  box.focus();
  box.select();
}
