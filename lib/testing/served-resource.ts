/**
 * Describes the resources of the fake server beyond their names: the traits in which built-in resources of a real
 * server differ from each other and from custom resources.
 */
import { refusal } from '../checks/checked-option.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { defineResource, type Resource } from '../meta/resource.ts';
import type { Collection } from '../object-log/collection.ts';
import type { ObjectLog } from '../object-log/object-log.ts';
import type { LoggedResource } from '../object-log/stored-object.ts';
import { jsonPath } from './tables/json-path.ts';

/** A column of a custom resource: `additionalPrinterColumns` of its definition. */
export interface PrinterColumn {
  readonly name: string;
  /** `string`, `integer`, `number`, `boolean` or `date`, which prints an age. */
  readonly type: string;
  /** For example `.spec.size` or `.status.conditions[?(@.type=="Ready")].status`. */
  readonly jsonPath: string;
  readonly format?: string;
  readonly description?: string;
  /** Columns above 0 are shown only in wide output. @defaultValue 0 */
  readonly priority?: number;
}

/** The behaviour of a resource. The defaults are those of a real server, if they are known for the resource. */
export interface ResourceTraits {
  /**
   * Whether this is a custom resource, whose list items carry `kind` and `apiVersion`. Default: the group is not built
   * in.
   */
  readonly custom?: boolean | undefined;
  /**
   * Whether an update may lack a resourceVersion, and then replaces any version. Default: true, except for custom
   * resources and the few built-in ones, such as leases, for which a real server requires a version.
   */
  readonly unconditionalUpdate?: boolean | undefined;
  /**
   * Whether a PUT creates an object that does not exist. Default: as on a real server, for example leases and services.
   */
  readonly createOnUpdate?: boolean | undefined;
  /**
   * Whether there is a `/status` subresource, so that writes to the object do not change its status. @defaultValue true
   */
  readonly status?: boolean | undefined;
  /**
   * Whether there is a `/scale` subresource for `spec.replicas`. Default: true for the built-in workloads that have it.
   */
  readonly scale?: boolean | undefined;
  /** Whether `metadata.generation` counts the changes of the spec. @defaultValue true */
  readonly generation?: boolean | undefined;
  /** The fields that `fieldSelector` supports besides `metadata.name` and `metadata.namespace`. */
  readonly selectableFields?: readonly string[] | undefined;
  /**
   * The columns of its tables after the name. Default: the age; for some built-in resources, those of a real server.
   */
  readonly printerColumns?: readonly PrinterColumn[] | undefined;
}

type ResolvedTraits = {
  readonly [Trait in keyof ResourceTraits]-?: Exclude<ResourceTraits[Trait], undefined>;
};

/** A resource that the server serves, with all its traits. */
export interface ServedResource extends LoggedResource, ResolvedTraits {
  readonly resource: Resource<KubernetesObject>;
  /** The status of a newly created object. */
  readonly initialStatus: Readonly<Record<string, unknown>> | undefined;
}

/** The object log of a fake server. */
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
    'events.events.k8s.io': plain,
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
    ...[
      'services',
      'events',
      'events.events.k8s.io',
      'endpoints',
      'limitranges',
      'runtimeclasses.node.k8s.io',
    ],
  ];
}

/** The resources whose strategies in kube-apiserver have `AllowUnconditionalUpdate` false. */
const VERSIONED = /* @__PURE__ */ versionedResources();
/** The resources whose strategies in kube-apiserver have `AllowCreateOnUpdate` true. */
const CREATED_BY_PUT = /* @__PURE__ */ resourcesCreatedByPut();

const PHASES: Readonly<Record<string, string>> = { pods: 'Pending', namespaces: 'Active' };

/** Completes the traits of a resource. Throws a `TypeError` on a printer column with an invalid JSONPath. */
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

/** Throws a `TypeError` if a resource is its name, or missing. */
export function checkResource(caller: string, resource: unknown): void {
  if (Object(resource) === resource) return;
  const must = 'the resource itself, such as pods of rx-informer/resources';
  throw refusal(`${caller}: resource`, resource, must);
}

/** Whether a resource is the pods, which can be evicted and have logs. */
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
        ['events.k8s.io', 'events', 'Event'],
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

/** The resources that a fake server serves by default. */
export const defaultResources: readonly Resource<KubernetesObject>[] =
  /* @__PURE__ */ resourcesServed();
