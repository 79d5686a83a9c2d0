/** The manifests of `rx-informer init controller` on a real kube-apiserver: each is accepted as by `kubectl apply --dry-run=server`. */
import { type KubernetesObject, type Resource, resourcePath } from 'rx-informer';
import {
  clusterRoleBindings,
  clusterRoles,
  customResourceDefinitions,
  deployments,
  namespaces,
  roleBindings,
  roles,
  serviceAccounts,
} from 'rx-informer/resources';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { controllerFiles } from '../../lib/command/init-controller.ts';
import { type Cluster, openCluster } from './cluster.ts';
import { removeNamespaces } from './namespaces.ts';
import { openRawApi, type RawApi } from './raw-api.ts';

const RESOURCES: readonly Resource<KubernetesObject>[] = [
  ...[customResourceDefinitions, namespaces, serviceAccounts, clusterRoles, roles],
  ...[clusterRoleBindings, roleBindings, deployments],
];
const NAME = `painter-${process.pid}`;
const query = { dryRun: 'All', fieldValidation: 'Strict' };

describe('the manifests of rx-informer init controller', () => {
  let cluster: Cluster;
  let api: RawApi;
  let objects: KubernetesObject[];

  beforeAll(async () => {
    cluster = await openCluster();
    api = await openRawApi(cluster.kubeconfig);
    const crd = 'lib/command/templates/controller/manifests/1-crd.yaml';
    const files = await controllerFiles(NAME, crd);
    objects = [...files]
      .filter(([path]) => path.startsWith('manifests/'))
      .flatMap(([, text]) => {
        const documents = parseAllDocuments(text);
        return Array.isArray(documents) ? documents.map((document) => document.toJS()) : [];
      });
  });
  afterAll(async () => {
    if (api) await removeNamespaces(api, [NAME]);
    api?.close();
    await cluster?.close();
  });

  const resourceOf = ({ apiVersion, kind }: KubernetesObject) => {
    const found = RESOURCES.find((each) => each.apiVersion === apiVersion && each.kind === kind);
    if (found === undefined) throw new Error(`no resource for ${apiVersion} ${kind}`);
    return found;
  };

  it('N43: each manifest can be created and applied, without a warning', async () => {
    expect(objects.map(({ kind }) => kind)).toEqual([
      ...['CustomResourceDefinition', 'Namespace', 'ServiceAccount', 'ClusterRole', 'Role'],
      ...['ClusterRoleBinding', 'RoleBinding', 'Deployment'],
    ]);
    for (const object of objects) {
      const { name, namespace } = object.metadata ?? {};
      const resource = resourceOf(object);
      const place = namespace === undefined ? {} : { namespace };
      const one = resourcePath(resource, { ...place, name: name ?? '' });
      const apply = { fieldManager: 'init', contentType: 'application/apply-patch+yaml' };
      const answers = [
        await api.call('POST', resourcePath(resource, place), { query, body: object }),
        await api.call('PATCH', one, {
          query: { ...query, fieldManager: apply.fieldManager },
          contentType: apply.contentType,
          body: object,
        }),
      ];
      const shown = answers.map(({ status, headers, body }) => ({
        ...{ kind: object.kind, status, warning: headers['warning'] },
        ...(status < 300 ? {} : { body }),
      }));
      const accepted = { kind: object.kind, status: 201, warning: undefined };
      expect(shown).toEqual([accepted, accepted]);
      // The objects in the namespace need one that exists.
      if (object.kind === 'Namespace') {
        await api.ok('POST', resourcePath(namespaces, {}), { body: object });
      }
    }
  });

  it('N43: a Deployment with fewer restrictions would be reported', async () => {
    const deployment = structuredClone(objects.find(({ kind }) => kind === 'Deployment')) as {
      spec: { template: { spec: { securityContext?: object } } };
    };
    delete deployment.spec.template.spec.securityContext;
    const path = resourcePath(deployments, { namespace: NAME });
    const { headers } = await api.call('POST', path, { query, body: deployment });
    expect(headers['warning']).toMatch(/would violate PodSecurity/);
  });
});
