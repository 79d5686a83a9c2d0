/** The fake API server in a process of its own: it changes its objects at a rate, and reports each state. */
import { pods } from 'rx-informer/resources';
import { createFakeApiServer, seededRandom } from 'rx-informer/testing';
import { answerCalls, report } from './child.ts';
import { Digest } from './digest.ts';
import type { Truth } from './judge.ts';

const server = createFakeApiServer({ historyLimit: 50_000, requestsKept: 100_000 });
const random = seededRandom(42);
const all = new Digest();
const digests = new Map<string, Digest>();
const present: { namespace: string; name: string }[] = [];
let unreported: Truth[] = [];
let made = 0;
let timer: NodeJS.Timeout | undefined;

function note(namespace: string, name: string, version: string | undefined): void {
  const key = `${namespace}/${name}`;
  const digest = digests.get(namespace) ?? new Digest();
  digests.set(namespace, digest);
  digest.set(key, version);
  all.set(key, version);
  unreported.push({
    version: Number(server.objects.resourceVersion),
    namespace,
    ofNamespace: digest.text,
    ofAll: all.text,
    atMs: Date.now(),
  });
}

/** A Pod of about 1 kB. */
function pod(namespace: string, name: string) {
  const annotations = { turn: String(random()), padding: 'x'.repeat(600) };
  const containers = [{ name: 'main', image: 'registry.example.com/shop/web:1.2.3' }];
  return {
    metadata: { namespace, name, labels: { app: 'web' }, annotations },
    spec: { nodeName: `node-${made % 100}`, containers },
  };
}

function create(namespace: string): void {
  const name = `web-${made++}`;
  const { metadata } = server.objects.create(pods, pod(namespace, name));
  present.push({ namespace, name });
  note(namespace, name, metadata.resourceVersion);
}

/** One change: mostly an update, sometimes a deletion and a creation in turn, so that the number stays. */
function change(count: number): void {
  const at = Math.floor(random() * present.length);
  const target = present[at];
  if (target === undefined) return;
  const { namespace, name } = target;
  if (count % 20 === 0) {
    server.objects.delete(pods, target);
    present[at] = present.at(-1) ?? target;
    present.pop();
    note(namespace, name, undefined);
  } else if (count % 20 === 10) create(namespace);
  else {
    const { metadata } = server.objects.update(pods, pod(namespace, name));
    note(namespace, name, metadata.resourceVersion);
  }
}

function flush(): void {
  if (unreported.length === 0) return;
  report(unreported);
  unreported = [];
}

answerCalls({
  async start(count: number, namespaces: number) {
    for (let at = 0; at < count; at++) create(`team-${at % namespaces}`);
    flush();
    const { url } = await server.serve({ port: 0 });
    return url;
  },
  churn(perSecond: number) {
    clearInterval(timer);
    const startMs = Date.now();
    let done = 0;
    timer = setInterval(() => {
      const due = ((Date.now() - startMs) * perSecond) / 1000;
      // A process that was held up catches up slowly, so that the rate has no peaks.
      for (let count = 0; done < due && count < perSecond / 10; count++) change(done++);
      flush();
    }, 20);
  },
  rest() {
    clearInterval(timer);
    flush();
  },
  /** The requests since the last call, without those of the Leases, by their use. */
  requests() {
    const counts: Record<string, number> = {};
    for (const { use, resource } of server.requests) {
      if (resource !== 'leases.coordination.k8s.io') counts[use] = (counts[use] ?? 0) + 1;
    }
    server.clearRequests();
    return counts;
  },
});
