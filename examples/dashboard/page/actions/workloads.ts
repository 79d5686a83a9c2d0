/** The actions on workloads: scale, restart, roll back, and run now. */
import { createResourceClient, retryOnConflict, type Stored } from 'rx-informer';
import { type CronJob, jobs } from 'rx-informer/resources';
import { counted } from '../../shared/words.ts';
import {
  type Action,
  changed,
  mayPatch,
  type Sending,
  type Target,
  type Template,
  Unneeded,
} from './action.ts';

const ROLLED = ['deployments.apps', 'statefulsets.apps', 'daemonsets.apps'];

/** The annotation that `kubectl rollout restart` writes. */
export const RESTARTED = 'kubectl.kubernetes.io/restartedAt';

const replicasOf = ({ spec }: Target) => spec?.replicas ?? 1;

/** Sets the number of replicas, if it is still the one that the user has seen. The status may change meanwhile. */
async function rescale(
  { calls, options }: Sending,
  object: Stored<Target>,
  from: number,
  to: number,
): Promise<void> {
  const { uid, name, namespace } = object.metadata;
  const target = { name, ...(namespace === undefined ? {} : { namespace }) };
  const isSet = await retryOnConflict(async () => {
    const now = await calls.get(target, options.signal && { signal: options.signal });
    if (now.metadata.uid !== uid || replicasOf(now) !== from) return false;
    const { resourceVersion } = now.metadata;
    const merge = { metadata: { resourceVersion }, spec: { replicas: to } };
    await calls.patchScale(target, { merge }, options);
    return true;
  });
  if (!isSet) throw changed(object, `no longer has ${counted(from, 'replica')}`);
}

export const scale: Action = {
  id: 'scale',
  label: 'Scale',
  does: 'Sets the number of Pods.',
  on: ['deployments.apps', 'statefulsets.apps'],
  asks: 'replicas',
  right: (resource) => ({ ...mayPatch(resource), subresource: 'scale' }),
  async send(sending, object, { replicas: to = 0 }) {
    const from = replicasOf(object);
    if (from === to) throw new Unneeded(`It has ${counted(to, 'replica')} already.`);
    await rescale(sending, object, from, to);
    return {
      says: `${from} → ${counted(to, 'replica')}`,
      undo: () => rescale({ ...sending, options: {} }, object, to, from),
    };
  },
};

/** Writes the template, and takes it back only if nobody else has written it since. */
async function retemplate(
  { calls, options }: Sending,
  object: Stored<Target>,
  next: Template,
): Promise<() => Promise<unknown>> {
  const from = (expected: Template, to: Template) => (draft: Target) => {
    draft.spec ??= {};
    if (JSON.stringify(draft.spec.template ?? {}) !== JSON.stringify(expected)) {
      throw changed(object, 'has another template of its Pods now');
    }
    draft.spec.template = to;
  };
  const before = object.spec?.template ?? {};
  const written = await calls.edit(object, from(before, next), options);
  return () => calls.edit(written, from(written.spec?.template ?? {}, before));
}

export const restart: Action = {
  id: 'restart',
  label: 'Restart',
  does: 'Replaces all Pods step by step, as a rollout does.',
  on: ROLLED,
  right: mayPatch,
  async send(sending, object, { atMs }) {
    const { metadata, ...template } = object.spec?.template ?? {};
    const annotations = { ...metadata?.annotations, [RESTARTED]: new Date(atMs).toISOString() };
    const next = { ...template, metadata: { ...metadata, annotations } };
    return { says: 'all Pods are replaced', undo: await retemplate(sending, object, next) };
  },
};

export const rollBack: Action = {
  id: 'rollback',
  label: 'Roll back',
  does: 'Returns to the template of an earlier revision. The number of replicas stays.',
  on: ROLLED,
  asks: 'revision',
  isSingle: true,
  right: mayPatch,
  async send(sending, object, { revision }) {
    if (revision === undefined) throw new Unneeded('There is no earlier revision.');
    return {
      says: `back to revision ${revision.number} (${revision.note})`,
      undo: await retemplate(sending, object, revision.template),
    };
  },
};

/** The name of a Job of a CronJob that is run by hand: the same one for the dry run and the run. */
export function jobName(name: string, atMs: number): string {
  return `${name.slice(0, 45)}-manual-${Math.floor(atMs / 1000).toString(36)}`;
}

export const runNow: Action = {
  id: 'run',
  label: 'Run now',
  does: 'Creates a Job of its template, as its schedule does.',
  on: ['cronjobs.batch'],
  right: () => ({ verb: 'create', group: 'batch', resource: 'jobs' }),
  async send({ client, options }, object, { atMs }) {
    const { name, namespace = '', uid } = object.metadata;
    const { metadata, spec } = (object as Stored<CronJob>).spec?.jobTemplate ?? {};
    const job = jobName(name, atMs);
    await createResourceClient(client, jobs).create(
      {
        metadata: {
          ...metadata,
          name: job,
          namespace,
          annotations: { ...metadata?.annotations, 'cronjob.kubernetes.io/instantiate': 'manual' },
          ownerReferences: [
            { apiVersion: 'batch/v1', kind: 'CronJob', name, uid, controller: true },
          ],
        },
        ...(spec === undefined ? {} : { spec }),
      },
      options,
    );
    return { says: `creates the Job ${job}` };
  },
};
