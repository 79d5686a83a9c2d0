/** The revisions of a workload, which its controller keeps: ReplicaSets of a Deployment, otherwise ControllerRevisions. */
import {
  createResourceClient,
  formatLabelSelector,
  type KubeClient,
  type KubernetesObject,
  type LabelSelectorObject,
  type Resource,
  type Stored,
} from 'rx-informer';
import { controllerRevisions, deployments, replicaSets } from 'rx-informer/resources';
import { shortImage } from '../kinds/cause.ts';
import type { Revision, Target, Template } from './action.ts';

/** Counts the revisions of a Deployment. */
const NUMBER = 'deployment.kubernetes.io/revision';
const CAUSE = 'kubernetes.io/change-cause';
/** The controller adds it to the template of a ReplicaSet. */
const HASH = 'pod-template-hash';

interface Kept extends KubernetesObject {
  /** Of a ReplicaSet. */
  readonly spec?: { readonly template?: Template };
  /** Of a ControllerRevision. */
  readonly revision?: number;
  readonly data?: { readonly spec?: { readonly template?: Template } };
}

function revisionOf({ metadata, spec, revision, data }: Stored<Kept>): Revision {
  const annotations = metadata.annotations ?? {};
  const kept = spec?.template ?? data?.spec?.template ?? {};
  const { $patch: _patch, ...template } = kept as Template & { $patch?: string };
  const { [HASH]: _hash, ...labels } = template.metadata?.labels ?? {};
  const images = (template.spec?.containers ?? []).map(({ image = '' }) => shortImage(image));
  return {
    number: revision ?? Number(annotations[NUMBER] ?? 0),
    template: { ...template, metadata: { ...template.metadata, labels } },
    createdMs: Date.parse(metadata.creationTimestamp ?? '') || 0,
    note: [annotations[CAUSE], images.join(', ')].filter(Boolean).join(' · '),
  };
}

/** The revisions of a workload, the newest first, which is the present one. */
export async function revisionsOf(
  client: KubeClient,
  { plural }: Pick<Resource<never>, 'plural'>,
  object: Stored<Target>,
  signal?: AbortSignal,
): Promise<readonly Revision[]> {
  const { uid, namespace } = object.metadata;
  const isDeployment = plural === deployments.plural;
  const kept = (isDeployment ? replicaSets : controllerRevisions) as Resource<Kept>;
  const { selector = {} } = (object as { spec?: { selector?: LabelSelectorObject } }).spec ?? {};
  const { items } = await createResourceClient(client, kept).list({
    labelSelector: formatLabelSelector(selector),
    ...(namespace === undefined ? {} : { namespace }),
    ...(signal === undefined ? {} : { signal }),
  });
  return items
    .filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid))
    .map(revisionOf)
    .sort((one, other) => other.number - one.number);
}
