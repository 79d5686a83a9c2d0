/**
 * Reconciles one Foo: compares the current state with the wanted state and corrects the difference. It does not
 * depend on what has happened, so it is right after a crash, a missed event or a repeated call.
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

/** The finalizer that keeps a Foo until its Deployments are deleted. */
export const FINALIZER = 'samplecontroller.k8s.io/deployments';
/** Annotation of each Deployment: the process that wrote it last. */
export const WRITTEN_BY = 'samplecontroller.k8s.io/written-by';
/** Label of each Deployment: the UID of its Foo. */
export const FOO_UID = 'samplecontroller.k8s.io/foo-uid';

/** If a cache does not show a write within this time, the reconcile fails and is retried. */
const OBSERVED = { timeoutMs: 10_000 };

/** The clients and caches of a reconcile. */
export interface ReconcileContext {
  readonly identity: string;
  readonly foos: ResourceClient<Foo>;
  readonly deployments: ResourceClient<Deployment>;
  /** The caches, which are read-only. */
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
  // The reference queues the Foo when the Deployment changes, and lets the garbage collector delete the Deployment.
  return setControllerReference(foo, deployment, foos);
}

/** Creates or corrects the Deployment if necessary, and returns it. */
async function ensureDeployment(
  foo: Stored<Foo>,
  { namespace }: ObjectName,
  context: ReconcileContext,
  signal: AbortSignal,
): Promise<Deployment> {
  const { identity, deployments, known, recorder } = context;
  const { deploymentName, replicas } = foo.spec;
  if (!deploymentName) {
    // A retry cannot succeed; the next change of the Foo queues it again.
    throw new TerminalError('spec.deploymentName must be given');
  }
  const key = `${namespace}/${deploymentName}`;
  const current = known.indexer.getByKey(key);
  if (current === undefined) {
    const created = await deployments.create(deploymentFor(foo, identity), { signal });
    // Waits for the cache, because otherwise the next reconcile would create the Deployment again.
    await known.whenObserved(key, created.metadata.resourceVersion, OBSERVED);
    const message = `created Deployment ${deploymentName}`;
    recorder.event(foo, { reason: 'Created', action: 'Reconcile', message, related: created });
    return created;
  }
  if (!isControlledBy(current, foo)) {
    const message = `Deployment ${deploymentName} exists and belongs to another owner`;
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

async function remove(
  deployment: Stored<Deployment>,
  context: ReconcileContext,
  signal: AbortSignal,
) {
  const { name, namespace = '', uid } = deployment.metadata;
  const { deployments, known } = context;
  try {
    // The UID protects another Deployment of the same name.
    await deployments.delete({ name, namespace }, { preconditions: { uid }, signal });
  } catch (error) {
    const { code } = error as { readonly code?: number };
    if (code !== 404 && code !== 409) throw error;
  }
  await known.whenObserved(`${namespace}/${name}`, { uid, deleted: true }, OBSERVED);
}

/** Creates the reconcile function of Foos. */
export function reconcileFoos(context: ReconcileContext): ReconcileObject<Foo> {
  const { deployments, wanted, known, recorder } = context;
  return finalizer<Foo>(context.foos, FINALIZER, {
    async apply(foo, { key, name, signal }) {
      const deployment = await ensureDeployment(foo, name, context, signal);
      // Deployments that the Foo had under an earlier name.
      for (const other of known.indexer.byIndex('owner', foo.metadata.uid)) {
        if (other.metadata.name !== foo.spec.deploymentName) await remove(other, context, signal);
      }
      const availableReplicas = deployment.status?.availableReplicas ?? 0;
      if (foo.status?.availableReplicas === availableReplicas) return;
      const written = await context.foos.patchStatus(
        name,
        { merge: { status: { availableReplicas } } },
        { signal },
      );
      // Waits for the cache, because the next reconcile compares with it. If the cache still had the old status, that
      // reconcile could leave out a write that is needed, and nothing would queue the Foo again.
      await wanted.whenObserved(key, written.metadata.resourceVersion, OBSERVED);
    },
    async cleanup(foo, { name, signal }) {
      // Reads from the server, because the cache may be stale and there is no later reconcile.
      const { items } = await deployments.list({
        namespace: name.namespace,
        labelSelector: `${FOO_UID}=${foo.metadata.uid}`,
        signal,
      });
      for (const deployment of items) await remove(deployment, context, signal);
      const message = `removed ${items.length} Deployments`;
      recorder.event(foo, { reason: 'Removed', action: 'Finalize', message });
    },
  });
}
