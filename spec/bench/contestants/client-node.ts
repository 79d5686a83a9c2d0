/** The contestant `@kubernetes/client-node`: its informer, used as its documentation shows. */
import {
  AppsV1Api,
  CoreV1Api,
  CustomObjectsApi,
  KubeConfig,
  type KubernetesListObject,
  type KubernetesObject,
  type ListPromise,
  makeInformer,
} from '@kubernetes/client-node';
import { type CorpusName, corpora, pathOf } from '../corpus/corpora.ts';
import { contend, type Seen } from './contestant.ts';

let held = (): Iterable<Seen> => [];

function listOf(config: KubeConfig, corpus: CorpusName): ListPromise<KubernetesObject> {
  const core = config.makeApiClient(CoreV1Api);
  switch (corpus) {
    case 'deployments':
      return () => config.makeApiClient(AppsV1Api).listDeploymentForAllNamespaces();
    case 'configmaps':
      return () => core.listConfigMapForAllNamespaces();
    case 'events':
      return () => core.listEventForAllNamespaces();
    case 'widgets':
      return () =>
        config
          .makeApiClient(CustomObjectsApi)
          .listClusterCustomObject({ ...corpora.widgets }) as Promise<
          KubernetesListObject<KubernetesObject>
        >;
    default:
      return () => core.listPodForAllNamespaces();
  }
}

await contend({
  held: () => held(),
  async start(url, corpus, onEvent) {
    const config = new KubeConfig();
    config.loadFromOptions({
      clusters: [{ name: 'bench', server: url, skipTLSVerify: true }],
      users: [{ name: 'bench' }],
      contexts: [{ name: 'bench', cluster: 'bench', user: 'bench' }],
      currentContext: 'bench',
    });
    const informer = makeInformer(config, pathOf(corpus), listOf(config, corpus));
    held = () => informer.list();
    informer.on('error', (error) => process.stderr.write(`client-node: ${error}\n`));
    let synced = false;
    for (const verb of ['add', 'update', 'delete'] as const) {
      informer.on(verb as 'change', (object) => synced && onEvent(object as Seen));
    }
    await informer.start();
    synced = true;
  },
});
