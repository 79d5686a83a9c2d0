/** Puts projections before a server that has none: metadata and tables, made of its plain answers. */
import type { Fetch, KubernetesObject } from 'rx-informer';

interface Plain extends KubernetesObject {
  items?: Plain[];
  status?: { phase?: string };
}

const apiVersion = 'meta.k8s.io/v1';
const columnDefinitions = ['Name', 'Status'].map((name) => ({
  name,
  type: 'string',
  format: name === 'Name' ? 'name' : '',
  description: '',
  priority: 0,
}));

const partial = ({ metadata }: Plain) => ({ kind: 'PartialObjectMetadata', apiVersion, metadata });
const row = (object: Plain) => ({
  cells: [object.metadata?.name ?? '', object.status?.phase ?? ''],
  object: partial(object),
});

function project(as: string, object: Plain, isFirst: boolean): unknown {
  if (as === 'PartialObjectMetadata') return partial(object);
  const items = object.items ?? (as === 'Table' ? [object] : []);
  const { metadata } = object;
  if (as !== 'Table') return { kind: as, apiVersion, metadata, items: items.map(partial) };
  const version = { resourceVersion: metadata?.resourceVersion };
  return {
    kind: 'Table',
    apiVersion,
    metadata: object.items === undefined ? version : metadata,
    columnDefinitions: isFirst ? columnDefinitions : null,
    rows: items.map(row),
  };
}

/** A fetch that honours `as=` in the Accept header, whatever is behind it. */
export function projectingFetch(fetch: Fetch): Fetch {
  return async (input, init) => {
    const as = /as=(\w+)/.exec(new Headers(init?.headers).get('accept') ?? '')?.[1];
    const headers = { ...init?.headers, accept: 'application/json' };
    const answer = await fetch(input, { ...init, headers });
    if (as === undefined || !answer.ok || answer.body === null) return answer;
    if (!String(input).includes('watch=true')) {
      return Response.json(project(as, (await answer.json()) as Plain, true));
    }
    let rest = '';
    let isFirst = true;
    const text = new TextDecoder();
    const lines = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        const whole = (rest + text.decode(chunk, { stream: true })).split('\n');
        rest = whole.pop() ?? '';
        for (const line of whole) {
          const event = JSON.parse(line) as { type: string; object: Plain };
          const object = event.type === 'ERROR' ? event.object : project(as, event.object, isFirst);
          isFirst = false;
          const out = `${JSON.stringify({ type: event.type, object })}\n`;
          controller.enqueue(new TextEncoder().encode(out));
        }
      },
    });
    return new Response(answer.body.pipeThrough(lines), { status: answer.status });
  };
}
