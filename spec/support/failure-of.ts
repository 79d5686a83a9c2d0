/** The error of what must fail. */
import type { ApiError } from 'rx-informer';

/** What a promise rejects with, or a call throws or rejects with. Rejects itself if nothing fails. */
export async function failureOf<E = ApiError>(
  failing: Promise<unknown> | (() => unknown),
): Promise<E> {
  try {
    await (typeof failing === 'function' ? failing() : failing);
  } catch (error) {
    return error as E;
  }
  throw new Error('nothing failed');
}
