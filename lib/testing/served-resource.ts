/**
 * What the fake server knows of a resource beyond its name: the traits in which built-in resources of a
 * real server differ from one another and from custom ones.
 */
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { defineResource, type Resource } from '../meta/resource.ts';
import type { Collection } from '../object-log/collection.ts';
import type { LoggedResource } from '../object-log/logged-resource.ts';
import type { ObjectLog } from '../object-log/object-log.ts';
import { jsonPath } from './tables/json-path.ts';
import type { PrinterColumn } from './tables/printer-column.ts';

/** How a resource behaves. Left out, each is what a real server does for the resource, where it is known. */
export interface ResourceTraits {
  /** Served as a custom resource: items of a list carry `kind` and `apiVersion`. Default: the group is no built-in one. */
  readonly custom?: boolean | undefined;
  /**
   * An update may come without a resourceVersion, and replaces whatever there is. Default: it may, but for custom
   * resources and the few built-in ones, leases among them, of which a real server wants one.
   */
  readonly unconditionalUpdate?: boolean | undefined;
  /** A PUT creates what is not there. Default: that of leases, services, events and the few others of a real server. */
  readonly createOnUpdate?: boolean | undefined;
  /** Has a `/status` subresource, so that writes to the object leave its status alone. @defaultValue true */
  readonly status?: boolean | undefined;
  /** Has a `/scale` subresource over `spec.replicas`. Default: the built-in workloads that have it. */
  readonly scale?: boolean | undefined;
  /** Counts changes of the spec in `metadata.generation`. @defaultValue true */
  readonly generation?: boolean | undefined;
  /** Fields that `fieldSelector` may name besides `metadata.name` and `metadata.namespace`. */
  readonly selectableFields?: readonly string[] | undefined;
  /** The columns of its tables after the name. Default: the age; for some built-in resources, those of a real server. */
  readonly printerColumns?: readonly PrinterColumn[] | undefined;
}

type ResolvedTraits = {
  readonly [Trait in keyof ResourceTraits]-?: Exclude<ResourceTraits[Trait], undefined>;
};

/** A resource in the server's table. */
export interface ServedResource extends LoggedResource, ResolvedTraits {
  readonly resource: Resource<KubernetesObject>;
  /** The status a POST starts with. */
  readonly initialStatus: Readonly<Record<string, unknown>> | undefined;
}

/** The log of a fake server. */
export type ServerLog = ObjectLog<ServedResource>;

/** The objects and changes of one served resource. */
export type ServedCollection = Collection<ServedResource>;

const counted = { status: true, generation: true };

function builtInTraits(): Readonly<Record<string, Partial<ResolvedTraits>>> {
  const plain = { status: false, generation: false };
  const scaled = { ...counted, scale: true };
  return {
    configmaps: plain,
    secrets: { ...plain, selectableFields: ['type'] },
    events: {
      ...plain,
      selectableFields: [
        ...['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'].map(
          (field) => `involvedObject.${field}`,
        ),
        ...['reason', 'reportingComponent', 'source', 'type'],
      ],
    },
    namespaces: { status: true, generation: false, selectableFields: ['status.phase'] },
    nodes: { status: true, generation: false, selectableFields: ['spec.unschedulable'] },
    services: {
      status: true,
      generation: false,
      selectableFields: ['spec.clusterIP', 'spec.type'],
    },
    pods: {
      ...counted,
      selectableFields: [
        ...['nodeName', 'restartPolicy', 'schedulerName', 'serviceAccountName', 'hostNetwork'].map(
          (field) => `spec.${field}`,
        ),
        ...['status.phase', 'status.podIP', 'status.nominatedNodeName'],
      ],
    },
    'deployments.apps': scaled,
    'statefulsets.apps': scaled,
    'replicasets.apps': { ...scaled, selectableFields: ['status.replicas'] },
    replicationcontrollers: { ...scaled, selectableFields: ['status.replicas'] },
    endpoints: plain,
    serviceaccounts: plain,
    'endpointslices.discovery.k8s.io': plain,
    'leases.coordination.k8s.io': plain,
    'jobs.batch': { ...counted, selectableFields: ['status.successful'] },
  };
}

const KNOWN = /* @__PURE__ */ builtInTraits();

function versionedResources(): string[] {
  return [
    ...['leases', 'leasecandidates'].map((plural) => `${plural}.coordination.k8s.io`),
    ...['csidrivers', 'csinodes', 'csistoragecapacities', 'volumeattachments'].map(
      (plural) => `${plural}.storage.k8s.io`,
    ),
    ...['mutating', 'validating'].flatMap((prefix) =>
      ['admissionpolicies', 'admissionpolicybindings', 'webhookconfigurations'].map(
        (plural) => `${prefix}${plural}.admissionregistration.k8s.io`,
      ),
    ),
    'poddisruptionbudgets.policy',
    'runtimeclasses.node.k8s.io',
  ];
}

function resourcesCreatedByPut(): string[] {
  return [
    ...['leases', 'leasecandidates'].map((plural) => `${plural}.coordination.k8s.io`),
    ...['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings'].map(
      (plural) => `${plural}.rbac.authorization.k8s.io`,
    ),
    ...['services', 'events', 'endpoints', 'limitranges', 'runtimeclasses.node.k8s.io'],
  ];
}

/** As `AllowUnconditionalUpdate` and `AllowCreateOnUpdate` of kube-apiserver's strategies have it. */
const VERSIONED = /* @__PURE__ */ versionedResources();
const CREATED_BY_PUT = /* @__PURE__ */ resourcesCreatedByPut();

const PHASES: Readonly<Record<string, string>> = { pods: 'Pending', namespaces: 'Active' };

/** Fills in the traits of a resource. Throws a `TypeError` on a printer column that cannot be read. */
export function servedResource(
  resource: Resource<KubernetesObject>,
  traits: ResourceTraits = {},
): ServedResource {
  const { group, plural } = resource;
  const name = group === '' ? plural : `${plural}.${group}`;
  const known = Object.hasOwn(KNOWN, name) ? KNOWN[name] : undefined;
  const custom = group.includes('.') && !group.endsWith('.k8s.io');
  const given = Object.fromEntries(
    Object.entries(traits).filter(([, value]) => value !== undefined),
  ) as Partial<ResolvedTraits>;
  const all: ResolvedTraits = {
    custom,
    unconditionalUpdate: !(traits.custom ?? custom) && !VERSIONED.includes(name),
    createOnUpdate: CREATED_BY_PUT.includes(name),
    scale: false,
    ...counted,
    selectableFields: [],
    printerColumns: [],
    ...known,
    ...given,
  };
  const phase = Object.hasOwn(PHASES, name) ? PHASES[name] : undefined;
  const initialStatus = all.custom || !all.status ? undefined : phase ? { phase } : {};
  for (const { jsonPath: path } of all.printerColumns) jsonPath(path);
  return Object.freeze({ resource, ...all, initialStatus } as ServedResource);
}

/** Pods can be evicted, and have logs. */
export function isPods({ resource }: ServedResource): boolean {
  return resource.group === '' && resource.plural === 'pods';
}

function resourcesServed(): readonly Resource<KubernetesObject>[] {
  const core = (plural: string, kind: string, namespaced = true) =>
    defineResource({ group: '', version: 'v1', plural, kind, namespaced });
  return Object.freeze([
    core('pods', 'Pod'),
    core('configmaps', 'ConfigMap'),
    core('secrets', 'Secret'),
    core('services', 'Service'),
    core('events', 'Event'),
    core('namespaces', 'Namespace', false),
    core('nodes', 'Node', false),
    ...(
      [
        ['apps', 'deployments', 'Deployment'],
        ['apps', 'replicasets', 'ReplicaSet'],
        ['apps', 'statefulsets', 'StatefulSet'],
        ['batch', 'jobs', 'Job'],
        ['coordination.k8s.io', 'leases', 'Lease'],
      ] as const
    ).map(([group, plural, kind]) =>
      defineResource({ group, version: 'v1', plural, kind, namespaced: true }),
    ),
  ]);
}

/** What a fake server serves unless it is told otherwise. */
export const defaultResources: readonly Resource<KubernetesObject>[] =
  /* @__PURE__ */ resourcesServed();
