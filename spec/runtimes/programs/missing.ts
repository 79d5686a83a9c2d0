/** Runs where only rx-informer and rxjs are installed, and tells which packages are missed. */
import { createClient } from 'rx-informer';
import { clientFromKubeConfig, crdTypes, createUndiciTransport } from 'rx-informer/node';
import { tell } from './settings.ts';

const messageOf = async (act: () => Promise<unknown>) => {
  try {
    return await act();
  } catch (error) {
    return (error as Error).message;
  }
};
const baseUrl = 'http://127.0.0.1:1';
const transport = createUndiciTransport({ baseUrl });
const definition = {
  ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
  spec: {
    ...{ group: 'example.com', names: { kind: 'Widget', plural: 'widgets' } },
    versions: [{ name: 'v1' }],
  },
};
tell({
  kubeconfig: await messageOf(() => clientFromKubeConfig({ text: 'kind: Config' })),
  request: await messageOf(() =>
    createClient({ baseUrl, transport }).request({ path: '/version' }),
  ),
  types: await messageOf(() => crdTypes([definition])),
});
