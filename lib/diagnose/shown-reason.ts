/** The reason of an error without names: a server may send any text as a reason. */
import { codeOf } from './codes.ts';

/** The reason, if it has a code, and the HTTP status. */
export function shownReason({
  reason,
  code,
}: {
  readonly reason: string;
  readonly code: number;
}): string {
  const known = codeOf(reason)?.name ?? 'another reason';
  return code === 0 ? known : `${known}, ${code}`;
}
