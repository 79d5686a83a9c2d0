/**
 * What is to be done for one Foo. It looks at what there is, compares with what is wanted, and closes the gap; it
 * does not ask what has happened, so it is right after a crash, a missed event, or a second call.
 */
import {
  type EventRecorder,
  finalizer,
  isControlledBy,
  type ObjectName,
  type ReconcileObject,
  type ResourceClient,
  type SharedInformer,
  type Stored,
  setControllerReference,
  TerminalError,
} from 'rx-informer';
import type { Deployment } from 'rx-informer/resources';
import { type Foo, foos } from './foo.ts';

/** The finalizer that keeps a Foo until its Deployments are gone. */
export const FINALIZER = 'samplecontroller.k8s.io/deployments';
/** On each Deployment: which process wrote it last. */
export const WRITTEN_BY = 'samplecontroller.k8s.io/written-by';
/** On each Deployment: the UID of its Foo. */
export const FOO_UID = 'samplecontroller.k8s.io/foo-uid';

/** A cache that is so far behind is an error, and the Foo is tried again. */
const OBSERVED = { timeoutMs: 10_000 };

/** What a reconcile works with. */
export interface Workshop {
  readonly identity: string;
  readonly foos: ResourceClient<Foo>;
  readonly deployments: ResourceClient<Deployment>;
  /** The caches: read from them, never write to them. */
  readonly wanted: SharedInformer<Foo>;
  readonly known: SharedInformer<Deployment>;
  readonly recorder: EventRecorder;
}

function deploymentFor(foo: Stored<Foo>, identity: string): Deployment {
  const { namespace = '', uid } = foo.metadata;
  const labels = { app: 'nginx', controller: foo.metadata.name };
  const deployment: Deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: foo.spec.deploymentName,
      namespace,
      labels: { ...labels, [FOO_UID]: uid },
      annotations: { [WRITTEN_BY]: identity },
    },
    spec: {
      replicas: foo.spec.replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: 'nginx', image: 'nginx:latest' }] },
      },
    },
  };
  // The reference wakes this controller when the Deployment changes, and lets garbage collection find it.
  return setControllerReference(foo, deployment, foos);
}

/** The Deployment as it should be; made, corrected, or as it is. */
async function ensureDeployment(
  foo: Stored<Foo>,
  { namespace }: ObjectName,
  workshop: Workshop,
  signal: AbortSignal,
): Promise<Deployment> {
  const { identity, deployments, known, recorder } = workshop;
  const { deploymentName, replicas } = foo.spec;
  if (!deploymentName) {
    // No retry puts that right; the next change of the Foo will bring it here again.
    throw new TerminalError('spec.deploymentName must be given');
  }
  const key = `${namespace}/${deploymentName}`;
  const current = known.indexer.getByKey(key);
  if (current === undefined) {
    const made = await deployments.create(deploymentFor(foo, identity), { signal });
    // Before the cache shows it, the next reconcile would want to make it a second time.
    await known.whenObserved(key, made.metadata.resourceVersion, OBSERVED);
    const message = `made Deployment ${deploymentName}`;
    recorder.event(foo, { reason: 'Created', action: 'Reconcile', message, related: made });
    return made;
  }
  if (!isControlledBy(current, foo)) {
    const message = `Deployment ${deploymentName} exists and belongs to somebody else`;
    recorder.event(foo, {
      ...{ type: 'Warning', reason: 'ErrResourceExists', action: 'Reconcile', message },
      related: current,
    });
    throw new Error(message);
  }
  if (current.spec?.replicas === replicas) return current;
  const message = `scaled Deployment ${deploymentName} from ${current.spec?.replicas} to ${replicas}`;
  const edited = await deployments.edit(
    current,
    (draft) => {
      if (draft.spec !== undefined) draft.spec.replicas = replicas;
      draft.metadata.annotations = { ...draft.metadata.annotations, [WRITTEN_BY]: identity };
    },
    { signal },
  );
  await known.whenObserved(key, edited.metadata.resourceVersion, OBSERVED);
  recorder.event(foo, { reason: 'Scaled', action: 'Reconcile', message, related: edited });
  return edited;
}

async function remove(deployment: Stored<Deployment>, workshop: Workshop, signal: AbortSignal) {
  const { name, namespace = '', uid } = deployment.metadata;
  const { deployments, known } = workshop;
  try {
    // This one and no other of its name.
    await deployments.delete({ name, namespace }, { preconditions: { uid }, signal });
  } catch (error) {
    const { code } = error as { readonly code?: number };
    if (code !== 404 && code !== 409) throw error;
  }
  await known.whenObserved(`${namespace}/${name}`, { uid, deleted: true }, OBSERVED);
}

/** The reconcile of Foos. */
export function reconcileFoos(workshop: Workshop): ReconcileObject<Foo> {
  const { deployments, wanted, known, recorder } = workshop;
  return finalizer<Foo>(workshop.foos, FINALIZER, {
    async apply(foo, { key, name, signal }) {
      const deployment = await ensureDeployment(foo, name, workshop, signal);
      // What it had before its spec named another one.
      for (const other of known.indexer.byIndex('owner', foo.metadata.uid)) {
        if (other.metadata.name !== foo.spec.deploymentName) await remove(other, workshop, signal);
      }
      const availableReplicas = deployment.status?.availableReplicas ?? 0;
      if (foo.status?.availableReplicas === availableReplicas) return;
      const written = await workshop.foos.patchStatus(
        name,
        { merge: { status: { availableReplicas } } },
        { signal },
      );
      // The next reconcile compares with the cache. One that still showed the status before would make it believe
      // that there is nothing to write, and nobody would wake it again.
      await wanted.whenObserved(key, written.metadata.resourceVersion, OBSERVED);
    },
    async cleanup(foo, { name, signal }) {
      // The last chance to find them: ask the server, whatever the cache has seen so far.
      const { items } = await deployments.list({
        namespace: name.namespace,
        labelSelector: `${FOO_UID}=${foo.metadata.uid}`,
        signal,
      });
      for (const deployment of items) await remove(deployment, workshop, signal);
      const message = `removed ${items.length} Deployments`;
      recorder.event(foo, { reason: 'Removed', action: 'Finalize', message });
    },
  });
}
