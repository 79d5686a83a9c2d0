/**
 * Reads the present lines of a log. A log of the client takes turns with the watches, as a list does, which is right for one that is
 * followed; many short ones would wait some seconds each.
 */
import { ApiError } from 'rx-informer';
import { mergeMap, type Observable } from 'rxjs';
import { fromFetch } from 'rxjs/fetch';
import { user } from '../cluster/cluster.ts';
import { settings } from '../cluster/settings.ts';
import type { LogRequest, LogSource } from './many-logs.ts';

async function linesOf(answer: Response): Promise<readonly string[]> {
  const text = await answer.text();
  if (answer.ok)
    return text
      .replace(/\n$/, '')
      .split('\n')
      .filter((line, at) => line || at > 0);
  throw new ApiError({ ...messageIn(text), code: answer.status });
}

/** The message of a Status, or the text of a proxy. */
function messageIn(text: string): { readonly reason: string; readonly message: string } {
  try {
    const { reason = '', message = text } = JSON.parse(text) as {
      reason?: string;
      message?: string;
    };
    return { reason, message };
  } catch {
    return { reason: '', message: text };
  }
}

export function readLog(source: LogSource, options: LogRequest): Observable<string> {
  const { namespace, pod, container } = source;
  const query = new URLSearchParams({ container });
  for (const [name, value] of Object.entries(options)) {
    if (value !== undefined && value !== false) query.set(name, String(value));
  }
  const url = `${settings.base}/api/v1/namespaces/${namespace}/pods/${pod}/log?${query}`;
  return fromFetch(url, { selector: linesOf, headers: { ...user?.headers } }).pipe(
    mergeMap((lines) => lines),
  );
}
