/** Where the keyboard goes: the filter, the table, and the dialogs of keys. */
import { BehaviorSubject } from 'rxjs';

/** The open dialog; '' if none is. */
export const dialog$ = new BehaviorSubject<'' | 'jump' | 'keys'>('');

export const FILTER_ID = 'filter';

export function focusTable(): void {
  document.querySelector<HTMLElement>('[role=grid],[role=treegrid]')?.focus();
}

/** Whether the table that is shown next takes the keyboard. */
export const nextTable = { takesKeyboard: false };

export function focusFilter(): void {
  const box = document.getElementById(FILTER_ID);
  if (!(box instanceof HTMLInputElement)) return;
  box.focus();
  box.select();
}
