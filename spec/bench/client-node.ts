/** The contestant `@kubernetes/client-node`: its informer, used as its documentation shows. */
import { CoreV1Api, KubeConfig, makeInformer, type V1Pod } from '@kubernetes/client-node';
import { contend } from './contestant.ts';

let size = () => 0;

await contend({
  size: () => size(),
  async start(url, onUpdate) {
    const config = new KubeConfig();
    config.loadFromOptions({
      clusters: [{ name: 'bench', server: url, skipTLSVerify: true }],
      users: [{ name: 'bench' }],
      contexts: [{ name: 'bench', cluster: 'bench', user: 'bench' }],
      currentContext: 'bench',
    });
    const api = config.makeApiClient(CoreV1Api);
    const informer = makeInformer<V1Pod>(config, '/api/v1/pods', () =>
      api.listPodForAllNamespaces(),
    );
    size = () => informer.list().length;
    informer.on('error', (error) => process.stderr.write(`client-node: ${error}\n`));
    informer.on('update', (pod) => {
      const { resourceVersion, annotations } = pod.metadata ?? {};
      onUpdate({
        metadata: {
          ...(resourceVersion && { resourceVersion }),
          ...(annotations && { annotations }),
        },
      });
    });
    await informer.start();
  },
});
