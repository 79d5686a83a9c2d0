/** Refuses a bucket that a publisher of something else keeps: each would delete what the other one publishes. */
import { ApiError } from '../../meta/api-error.ts';
import type { Meta } from '../meta.ts';
import type { RecordSettings } from './messages.ts';

/** Throws an `ApiError` if the record names another namespace, cluster or form of the objects. */
export function checkSource(
  own: Pick<RecordSettings, 'prefix' | 'namespace' | 'cluster' | 'content'>,
  meta: Meta | undefined,
  where: string,
): void {
  if (meta === undefined) return;
  // Older records name no namespace, and a publisher need not name its cluster.
  const { namespace = own.namespace, cluster = own.cluster, content } = meta;
  const found = { namespace, content, cluster: own.cluster && cluster };
  for (const [name, value] of Object.entries(found)) {
    const mine = own[name as keyof typeof found];
    if (mine === value) continue;
    const quoted = (text: string | undefined) => JSON.stringify(text ?? '');
    const message = `${where}: the bucket has the ${name} ${quoted(value)}, and this publisher ${quoted(mine)}; choose another bucket, or purge ${own.prefix}.> first`;
    throw new ApiError({ code: 409, reason: 'OtherSource', message });
  }
}
