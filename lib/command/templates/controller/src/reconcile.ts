/**
 * Reconciles one Widget: keeps a ConfigMap that records its generation. Replace the ConfigMap by what your controller makes.
 * The function compares the current state with the wanted state and writes the difference, so it may be called at any time.
 */
import {
  ApiError,
  type EventRecorder,
  finalizer,
  isControlledBy,
  type NewCondition,
  type ReconcileObject,
  type ResourceClient,
  type SharedInformer,
  type Stored,
  setCondition,
  setControllerReference,
} from 'rx-informer';
import type { ConfigMap } from 'rx-informer/resources';
import { type Widget, widgets } from './widgets.ts';

/** Keeps a deleted object until `cleanup` is done. */
export const FINALIZER = 'example.com/widget-controller';
/** The namespace of the ConfigMap of a cluster-scoped object. */
const NAMESPACE = 'widget-controller';
/** A reconcile fails, and is retried, if a cache does not show its write within this time. */
const OBSERVED = { timeoutMs: 10_000 };

/** The clients and caches of a reconcile. */
export interface ReconcileContext {
  readonly objects: ResourceClient<Widget>;
  readonly configMaps: ResourceClient<ConfigMap>;
  /** The caches, which are read-only. */
  readonly wanted: SharedInformer<Widget>;
  readonly known: SharedInformer<ConfigMap>;
  readonly recorder: EventRecorder;
}

function placeOf({ metadata }: Stored<Widget>) {
  return { name: metadata.name, namespace: metadata.namespace ?? NAMESPACE };
}

/** The result of a request; `undefined` if its object does not exist. */
async function ifFound<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof ApiError && error.isNotFound) return undefined;
    throw error;
  }
}

/** Creates or corrects the ConfigMap, and returns the condition to report. */
async function ensureConfigMap(
  object: Stored<Widget>,
  { configMaps, known, recorder }: ReconcileContext,
  signal: AbortSignal,
): Promise<NewCondition> {
  const { name, namespace } = placeOf(object);
  const data = { generation: String(object.metadata.generation ?? 0) };
  const current = known.indexer.getByKey(`${namespace}/${name}`);
  if (current !== undefined && !isControlledBy(current, object)) {
    const message = `ConfigMap ${name} exists and belongs to another owner`;
    recorder.event(object, { type: 'Warning', reason: 'NameTaken', action: 'Reconcile', message });
    return { type: 'Ready', status: 'False', reason: 'NameTaken', message };
  }
  if (current?.data?.['generation'] !== data.generation) {
    const wanted = setControllerReference(object, { metadata: { name, namespace }, data }, widgets);
    const correct = (draft: ConfigMap) => {
      draft.data = data;
    };
    const written =
      current === undefined
        ? await configMaps.create(wanted, { signal })
        : await configMaps.edit(current, correct, { signal });
    // The next reconcile compares with the cache, so the cache must show this write first.
    const { resourceVersion } = written.metadata;
    const seen = await known.whenObserved(`${namespace}/${name}`, resourceVersion, OBSERVED);
    // An object that is deleted before the cache has shown it queues no key, so this reconcile has to be tried again.
    if (seen === undefined)
      throw new Error(`ConfigMap ${name} was deleted right after it was written`);
    const reason = current === undefined ? 'Created' : 'Updated';
    recorder.event(object, { reason, action: 'Reconcile', message: `ConfigMap ${name}` });
  }
  return { type: 'Ready', status: 'True', reason: 'Applied' };
}

/** Creates the reconcile function. */
export function reconcileObjects(context: ReconcileContext): ReconcileObject<Widget> {
  return finalizer<Widget>(context.objects, FINALIZER, {
    async apply(object, { key, name, signal }) {
      const condition = await ensureConfigMap(object, context, signal);
      const conditions = setCondition(object, condition);
      if (conditions !== object.status?.conditions) {
        // With the version, because the patch replaces the complete list.
        const { resourceVersion } = object.metadata;
        const status = { conditions } as NonNullable<Widget['status']>;
        const merge = { metadata: { resourceVersion }, status };
        const written = await context.objects.patchStatus(name, { merge }, { signal });
        await context.wanted.whenObserved(key, written.metadata.resourceVersion, OBSERVED);
      }
      // A ConfigMap of another owner queues no key when it is deleted.
      return condition.status === 'True' ? undefined : { requeueAfterMs: 30_000 };
    },
    async cleanup(object, { signal }) {
      const place = placeOf(object);
      // From the server, because the cache may not show yet what was made, and no later reconcile would remove it.
      const current = await ifFound(context.configMaps.get(place, { signal }));
      if (current === undefined || !isControlledBy(current, object)) return undefined;
      if (current.metadata.deletionTimestamp === undefined) {
        const { uid } = current.metadata;
        await ifFound(context.configMaps.delete(place, { preconditions: { uid }, signal }));
        const message = `ConfigMap ${place.name}`;
        context.recorder.event(object, { reason: 'Removed', action: 'Finalize', message });
      }
      // It may stay for a finalizer of its own, and the object with it. So look again until the server has it no longer.
      return { requeueAfterMs: 1_000 };
    },
  });
}
