/** The `scale` subresource: the replicas of a workload as an `autoscaling/v1` Scale. */

import { type Fields, isFields } from '../../meta/json-fields.ts';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import { badRequest, invalid } from '../../object-log/failures.ts';
import type { StoredObject } from '../../object-log/stored-object.ts';
import type { Exchange, Target } from '../http/request.ts';
import { checkIdentity, invalidPatch, readPatch } from '../patch/patch.ts';
import { effectOf } from './object-writer.ts';
import {
  checkPathName,
  existing,
  objectIn,
  updatedTo,
  type WriteContext,
  type WriteResult,
} from './writes.ts';

const TYPE = { kind: 'Scale', apiVersion: 'autoscaling/v1' } as const;

interface Scale extends KubernetesObject {
  readonly spec?: { readonly replicas?: number };
}

function selectorOf({ spec, status }: StoredObject, custom: boolean): string | undefined {
  if (custom) return isFields(status) ? (status.selector as string | undefined) : undefined;
  const selector = isFields(spec) && isFields(spec.selector) ? spec.selector : {};
  const labels = isFields(selector.matchLabels) ? selector.matchLabels : selector;
  const pairs = Object.entries(labels).filter(([, value]) => typeof value === 'string');
  return pairs.map(([name, value]) => `${name}=${value}`).join(',');
}

function scaleOf(object: StoredObject, custom: boolean): Scale & Fields {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const count = (part: unknown) => Number((isFields(part) && part.replicas) || 0);
  const replicas = count(object.spec);
  const selector = selectorOf(object, custom);
  return {
    ...TYPE,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      uid,
      resourceVersion,
      ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    },
    spec: replicas === 0 ? {} : { replicas },
    status: { replicas: count(object.status), ...(selector ? { selector } : {}) },
  };
}

/** Handles a GET. */
export function readScale(target: Target): object {
  return scaleOf(existing(target), target.collection.served.custom);
}

/** Why the replicas of a scale cannot be read, if so. */
function unreadable({ spec }: { readonly spec?: unknown }): string | undefined {
  const replicas = isFields(spec) ? (spec.replicas ?? 0) : 0;
  if (spec && !isFields(spec)) return 'json: cannot unmarshal the value of the field Scale.spec';
  if (typeof replicas === 'number' && (replicas | 0) === replicas) return undefined;
  return `json: cannot unmarshal ${JSON.stringify(replicas)} into the field ScaleSpec.spec.replicas of type int32`;
}

function rescale(
  scale: Scale,
  current: StoredObject,
  target: Target,
  context: WriteContext,
  effect: ReturnType<typeof effectOf>,
): WriteResult {
  const replicas = scale.spec?.replicas ?? 0;
  const { name = '', collection } = target;
  if (replicas < 0) {
    const message = `Invalid value: ${replicas}: must be greater than or equal to 0`;
    throw invalid(
      { kind: TYPE.kind, name, group: 'autoscaling' },
      { reason: 'FieldValueInvalid', message, field: 'spec.replicas' },
    );
  }
  const resourceVersion = scale.metadata?.resourceVersion || current.metadata.resourceVersion;
  const spec = { ...(isFields(current.spec) ? current.spec : {}), replicas };
  const object = { ...current, metadata: { ...current.metadata, resourceVersion }, spec };
  const { code, content } = updatedTo(object, current, target, context, effect);
  const scaled = 'object' in content ? content.object : current;
  return { code, content: { json: scaleOf(scaled, collection.served.custom) } };
}

/** Handles a PUT. */
export function putScale(exchange: Exchange, target: Target, context: WriteContext): WriteResult {
  const scale = objectIn(exchange, { ...TYPE, custom: false }, target.namespace) as Scale;
  const why = unreadable(scale);
  if (why !== undefined) {
    throw badRequest(`${TYPE.kind} in version "v1" cannot be handled as a ${TYPE.kind}: ${why}`);
  }
  checkPathName(scale, target);
  const effect = effectOf(exchange, 'UpdateOptions');
  return rescale(scale, existing(target), target, context, effect);
}

/** Handles a PATCH. */
export function patchScale(exchange: Exchange, target: Target, context: WriteContext): WriteResult {
  const { custom } = target.collection.served;
  const effect = effectOf(exchange, 'PatchOptions');
  const { of } = readPatch(exchange, { ...TYPE, custom });
  const current = existing(target);
  const before = scaleOf(current, custom);
  const scale = of(before) as Scale;
  const why = unreadable(scale);
  if (why !== undefined) throw invalidPatch(`${JSON.stringify(scale)}: ${why}`);
  checkIdentity(target, scale, before);
  return rescale(scale, current, target, context, effect);
}
