/** Where the keyboard goes: the filter, the table, and the dialogs of keys. */
import { BehaviorSubject } from 'rxjs';

/** The open dialog; '' if none is. */
export const dialog$ = new BehaviorSubject<'' | 'jump' | 'keys'>('');

/** The id of the filter box. */
export const FILTER_ID = 'filter';

/** Moves the keyboard to the table. */
export function focusTable(): void {
  document.querySelector<HTMLElement>('[role=grid],[role=treegrid]')?.focus();
}

/** Moves the keyboard to the filter. */
export function focusFilter(): void {
  const box = document.getElementById(FILTER_ID);
  if (!(box instanceof HTMLInputElement)) return;
  box.focus();
  box.select();
}
