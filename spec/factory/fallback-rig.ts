/** An informer with `namespaceFallback`, on a server that permits only some namespaces. */
import { createClient, createInformerFactory, type InformerFactoryOptions } from 'rx-informer';
import { namespaces, pods } from 'rx-informer/resources';
import { type AccessAttributes, createFakeApiServer } from 'rx-informer/testing';
import { onTestFinished } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';

export const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';

/** A server with pods in the namespaces a, b and c, for a user with rights in some of them. */
export function rig(
  options: InformerFactoryOptions,
  permitted: string[],
  more: (access: AccessAttributes) => boolean = () => false,
  /** Answers a request instead of the server. */
  instead: (url: string, init?: RequestInit) => Promise<Response> | undefined = () => undefined,
) {
  const time = new VirtualTime();
  let open = 0;
  let most = 0;
  const reviewed: string[] = [];
  const server = createFakeApiServer({
    scheduler: time,
    latencyMs: 10,
    allows: (access) => permitted.includes(access.namespace) || more(access),
  });
  for (const name of ['a', 'b', 'c']) {
    server.objects.create(namespaces, { metadata: { name } });
    server.objects.create(pods, { metadata: { namespace: name, name: `pod-${name}` } });
  }
  const client = createClient({
    baseUrl: 'http://fake',
    scheduler: time,
    fetch: async (url, init) => {
      const send = () => instead(url, init as RequestInit) ?? server.fetch(url, init);
      if (!url.endsWith(REVIEWS)) return send();
      const { spec } = JSON.parse(String(init?.body));
      const { verb, namespace } = spec.resourceAttributes as AccessAttributes;
      reviewed.push(`${verb} ${namespace}`);
      most = Math.max(most, ++open);
      try {
        return await send();
      } finally {
        open--;
      }
    },
  });
  const factory = createInformerFactory(client, {
    ...{ scheduler: time, random: () => 0.5 },
    ...options,
  });
  onTestFinished(() => factory.stop());
  const informer = factory.informer(pods);
  factory.start();
  const names = () => informer.indexer.list().map(({ metadata }) => metadata.name);
  return {
    ...{ time, server, client, factory, informer, names, permitted, reviewed },
    get most() {
      return most;
    },
  };
}
