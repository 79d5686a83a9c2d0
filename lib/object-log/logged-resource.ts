/** The description of a resource that the log needs. */
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Resource } from '../meta/resource.ts';

/** The properties of a resource that its lists and watches depend on. */
export interface LoggedResource {
  readonly resource: Resource<KubernetesObject>;
  /** A custom resource: the items of its lists carry `kind` and `apiVersion`. */
  readonly custom: boolean;
  /** Fields that `fieldSelector` may name besides `metadata.name` and `metadata.namespace`. */
  readonly selectableFields: readonly string[];
}
