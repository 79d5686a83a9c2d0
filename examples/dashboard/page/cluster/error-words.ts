/** Explains an error of a request in words. The server's own message follows, because it names the object and the user. */
import type { ApiError } from 'rx-informer';

const byReason: Readonly<Record<string, string>> = {
  Network: 'The server cannot be reached',
  Silent: 'The server has stopped sending, so the connection counts as lost',
  HeldBack: 'A proxy between the page and the server delays the changes',
  Malformed: 'The answer of the server was cut off or is not JSON',
  Credentials: 'The credentials could not be obtained',
};

const byCode: Readonly<Record<number, string>> = {
  400: 'The server does not understand the request',
  401: 'You are not signed in, or your sign-in has expired',
  403: 'You do not have permission for this',
  404: 'The server does not have this',
  405: 'This is not allowed here',
  409: 'Somebody else has changed the object in the meantime',
  // The message names two versions, of which a user can make nothing.
  410: 'The server no longer keeps the changes since the last connection, so the complete list is read again',
  422: 'The server does not accept this object',
  429: 'The server has too many requests and asks to wait',
  500: 'The server has an internal error',
  502: 'The cluster behind the dashboard cannot be reached',
  503: 'The server is starting or overloaded',
  504: 'The server did not answer in time',
};

export function errorMeaning({ code, reason }: Pick<ApiError, 'code' | 'reason'>): string {
  const isExpired = reason === 'Expired' || reason === 'Gone';
  const known = Object.hasOwn(byReason, reason) ? byReason[reason] : undefined;
  return known ?? byCode[isExpired ? 410 : code] ?? 'The request failed';
}

/** Explains an error, and adds the words of the server. */
export function errorWords(error: Pick<ApiError, 'code' | 'reason' | 'message'>): string {
  return `${errorMeaning(error)} (${error.message.replace(/\.$/, '')}).`;
}
