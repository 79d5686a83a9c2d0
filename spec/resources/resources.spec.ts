import { resourceName, resourcePath } from 'rx-informer';
import * as resources from 'rx-informer/resources';
import { describe, expect, it } from 'vitest';
import { constantName } from './naming.ts';

const all = Object.entries(resources);

describe('the built-in resources', () => {
  it.each([
    ['/api/v1/namespaces/shop/pods', 'Pod', resources.pods],
    ['/api/v1/nodes', 'Node', resources.nodes],
    ['/api/v1/namespaces/shop/configmaps', 'ConfigMap', resources.configMaps],
    ['/api/v1/namespaces/shop/endpoints', 'Endpoints', resources.endpoints],
    ['/apis/apps/v1/namespaces/shop/deployments', 'Deployment', resources.deployments],
    ['/apis/apps/v1/namespaces/shop/replicasets', 'ReplicaSet', resources.replicaSets],
    ['/apis/batch/v1/namespaces/shop/cronjobs', 'CronJob', resources.cronJobs],
    ['/apis/networking.k8s.io/v1/namespaces/shop/ingresses', 'Ingress', resources.ingresses],
    [
      '/apis/networking.k8s.io/v1/namespaces/shop/networkpolicies',
      'NetworkPolicy',
      resources.networkPolicies,
    ],
    [
      '/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices',
      'EndpointSlice',
      resources.endpointSlices,
    ],
    ['/apis/storage.k8s.io/v1/csidrivers', 'CSIDriver', resources.csiDrivers],
    [
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
      'CustomResourceDefinition',
      resources.customResourceDefinitions,
    ],
    ['/apis/apiregistration.k8s.io/v1/apiservices', 'APIService', resources.apiServices],
  ] as const)('has %s, %s', (path, kind, resource) => {
    expect(resourcePath(resource, resource.namespaced ? { namespace: 'shop' } : {})).toBe(path);
    expect(resource.kind).toBe(kind);
  });

  it('the core group and the preferred version have the plain name', () => {
    expect(resources.events.apiVersion).toBe('v1');
    expect(resources.eventsV1Events.apiVersion).toBe('events.k8s.io/v1');
    expect(resources.horizontalPodAutoscalers.apiVersion).toBe('autoscaling/v2');
    expect(resources.autoscalingV1HorizontalPodAutoscalers.apiVersion).toBe('autoscaling/v1');
    expect(resources.resourceClaims.apiVersion).toBe('resource.k8s.io/v1');
    expect(resources.resourceV1beta1ResourceClaims.apiVersion).toBe('resource.k8s.io/v1beta1');
  });

  it('each collection exists once, with a name made from its kind and plural', () => {
    const names = all.map(([, resource]) => `${resourceName(resource)} ${resource.version}`);
    expect(new Set(names).size).toBe(names.length);
    for (const [name, { kind, plural }] of all) {
      expect(name.toLowerCase()).toMatch(new RegExp(`${plural}$`));
      expect(name.toLowerCase().endsWith(constantName(kind, plural).toLowerCase())).toBe(true);
    }
  });

  it('all resources are exported', () => {
    expect(all.length).toBe(87);
  });
});

describe('the name of a constant', () => {
  it.each([
    ['Pod', 'pods', 'pods'],
    ['ConfigMap', 'configmaps', 'configMaps'],
    ['Endpoints', 'endpoints', 'endpoints'],
    ['NetworkPolicy', 'networkpolicies', 'networkPolicies'],
    ['StorageClass', 'storageclasses', 'storageClasses'],
    ['ComponentStatus', 'componentstatuses', 'componentStatuses'],
    ['CSINode', 'csinodes', 'csiNodes'],
    ['ServiceCIDR', 'servicecidrs', 'serviceCIDRs'],
  ])('of %s, %s is %s', (kind, plural, name) => {
    expect(constantName(kind, plural)).toBe(name);
  });
});
