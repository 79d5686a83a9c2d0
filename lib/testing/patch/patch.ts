/** Handles PATCH: reads the patch by its media type, applies it, and refuses changes that no patch may make. */
import type { JsonPatchOperation } from '../../client/patch.ts';
import { type Fields, isFields } from '../../meta/json-fields.ts';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import { badRequest, failure, forbiddenOption, invalid } from '../../object-log/failures.ts';
import type { StoredObject } from '../../object-log/stored-object.ts';
import type { Exchange, Target } from '../http/request.ts';
import { metadataTypeError } from '../writes/metadata-types.ts';
import { effectOf } from '../writes/object-writer.ts';
import {
  createdFrom,
  existing,
  found,
  invalidTarget,
  updatedTo,
  type WriteContext,
  type WriteResult,
} from '../writes/writes.ts';
import { JsonPatchFailure, jsonPatch } from './json-patch.ts';
import { mergePatch } from './merge-patch.ts';
import { applyPatch } from './server-side-apply.ts';
import { strategicMergePatch } from './strategic-merge-patch.ts';

const JSON_PATCH = 'application/json-patch+json';
const MERGE = 'application/merge-patch+json';
const STRATEGIC = 'application/strategic-merge-patch+json';
const APPLY = 'application/apply-patch+yaml';

/** The warning of every apply, so that users notice the difference from a real server. */
const NO_OWNERS =
  '299 - "the fake API server does not track field ownership: there are no conflicts, and no field is removed because it was left out"';

/** Parses a body as JSON, without members that could set a prototype. Throws a 400 with `message` if it is not JSON. */
function parsed(text: string, message = 'invalid JSON patch'): unknown {
  try {
    return JSON.parse(text, (name, value) => (name === '__proto__' ? undefined : value));
  } catch {
    throw badRequest(message);
  }
}

function operationsIn(text: string): JsonPatchOperation[] {
  const operations = parsed(text);
  if (Array.isArray(operations) && operations.every(isFields)) {
    return operations as JsonPatchOperation[];
  }
  throw badRequest('error decoding patch: a JSON patch is a list of operations');
}

function fieldsIn(text: string, message?: string): Fields {
  const patch = parsed(text, message);
  if (isFields(patch)) return patch;
  throw badRequest('error decoding patch: it is not an object');
}

/** A patch that was read. `of` applies it to an object. */
export interface ReadPatch {
  /** The object of an apply, which is created if it does not exist. */
  readonly applied: Fields | undefined;
  of(current: Fields): Fields;
}

function readApply({ query, body }: Exchange, kind: string, apiVersion: string): Fields {
  if (!query.get('fieldManager')) {
    const message = 'Required value: is required for apply patch';
    throw invalid(
      { kind: 'PatchOptions', name: '', group: 'meta.k8s.io' },
      { reason: 'FieldValueRequired', message, field: 'fieldManager' },
    );
  }
  const applied = fieldsIn(body, 'error decoding patch: the fake API server reads only JSON');
  if (applied.kind !== kind || applied.apiVersion !== apiVersion) {
    const [group, version = ''] = String(applied.apiVersion ?? '').split('/');
    const given = `${version ? group : ''}/${version || group}`;
    throw badRequest(`invalid object type: ${given}, Kind=${applied.kind ?? ''}`);
  }
  if (isFields(applied.metadata) && applied.metadata.managedFields !== undefined) {
    throw badRequest('metadata.managedFields must be nil');
  }
  return applied;
}

/** Reads the patch of an object of this type. Throws a 415 on a media type that the object does not support. */
export function readPatch(
  exchange: Exchange,
  { kind, apiVersion, custom }: { kind: string; apiVersion: string; custom: boolean },
): ReadPatch {
  const type = exchange.header('content-type')?.split(';')[0]?.trim() ?? '';
  const types = [JSON_PATCH, MERGE, ...(custom ? [] : [STRATEGIC]), APPLY];
  if (!types.includes(type)) {
    const message = `the body of the request was in an unknown format - accepted media types include: ${types.join(', ')}`;
    throw failure(415, 'UnsupportedMediaType', message);
  }
  if (type === APPLY) {
    const applied = readApply(exchange, kind, apiVersion);
    return { applied, of: (current) => applyPatch(current, applied, custom) as Fields };
  }
  if (exchange.query.has('force')) {
    throw forbiddenOption('PatchOptions', 'force', 'may not be specified for non-apply patch');
  }
  const of = type === JSON_PATCH ? operating(exchange.body) : merging(exchange.body, type);
  return { applied: undefined, of };
}

function operating(body: string): (current: Fields) => Fields {
  const operations = operationsIn(body);
  return (current) => {
    let patched: unknown;
    try {
      patched = jsonPatch(current, operations);
    } catch (error) {
      if (!(error instanceof JsonPatchFailure)) throw error;
      // A real server does not say what was wrong, either.
      const message = 'the server rejected our request due to an error in our request';
      throw failure(422, 'Invalid', message, {});
    }
    if (isFields(patched)) return patched;
    throw invalidPatch('not an object');
  };
}

function merging(body: string, type: string): (current: Fields) => Fields {
  const patch = fieldsIn(body);
  if (type === STRATEGIC) return (current) => strategicMergePatch(current, patch);
  return (current) => mergePatch(current, patch) as Fields;
}

/** The 422 of a patch whose result no object can have. */
export function invalidPatch(why: string): Error {
  const message = `Invalid value: ${why}`;
  return invalid({ kind: '', name: '' }, { reason: 'FieldValueInvalid', message, field: 'patch' });
}

/** Refuses changes that no type of patch may make. */
export function checkIdentity(target: Target, object: KubernetesObject, current: Fields): void {
  const { name = '', namespace } = target;
  const { kind, apiVersion, metadata } = object;
  if (kind !== current.kind || apiVersion !== current.apiVersion) {
    throw invalidPatch(`${apiVersion}, Kind=${kind}: unknown conversion`);
  }
  if (!isFields(metadata) || !metadata.name) {
    throw badRequest(
      `the name of the object (${name} based on URL) was undeterminable: name must be provided`,
    );
  }
  if (metadata.name !== name) {
    throw badRequest(
      `the name of the object (${metadata.name}) does not match the name on the URL (${name})`,
    );
  }
  if ((metadata.namespace ?? namespace) !== namespace) {
    throw badRequest(
      'the namespace of the provided object does not match the namespace sent on the request',
    );
  }
  const { custom } = target.collection.served;
  const wrongType = metadataTypeError({ kind: String(kind), custom }, metadata);
  if (wrongType !== undefined) throw invalidPatch(`${JSON.stringify(metadata)}: ${wrongType}`);
  const before = current.metadata as StoredObject['metadata'];
  for (const field of ['uid', 'deletionTimestamp'] as const) {
    const value = metadata[field];
    if (!value || value === before[field]) continue;
    const message = `Invalid value: ${JSON.stringify(value)}: field is immutable`;
    const cause = { reason: 'FieldValueInvalid', message, field: `metadata.${field}` };
    throw invalid(invalidTarget(target, name), cause);
  }
}

function applyNew(
  applied: Fields,
  exchange: Exchange,
  target: Target,
  context: WriteContext,
  effect: ReturnType<typeof effectOf>,
): WriteResult {
  const { namespace } = target;
  const given = isFields(applied.metadata) ? applied.metadata : {};
  const { resourceVersion: _version, ...metadata } = given;
  const object = {
    ...applied,
    metadata: { ...(namespace === '' ? {} : { namespace }), ...metadata },
  } as KubernetesObject;
  checkIdentity(target, object, { ...applied, metadata: { ...metadata } });
  return createdFrom(object, exchange, target, context, effect);
}

/** Handles a PATCH of an object or of its status. */
export function patch(exchange: Exchange, target: Target, context: WriteContext): WriteResult {
  const { resource, custom } = target.collection.served;
  const effect = effectOf(exchange, 'PatchOptions');
  const { kind, apiVersion } = resource;
  const { applied, of } = readPatch(exchange, { kind, apiVersion, custom });
  const headers: Record<string, string> = applied === undefined ? {} : { warning: NO_OWNERS };
  if (applied !== undefined && target.subresource === undefined && found(target) === undefined) {
    return { ...applyNew(applied, exchange, target, context, effect), headers };
  }
  const current = existing(target);
  const object = of(current) as KubernetesObject;
  checkIdentity(target, object, current);
  return { ...updatedTo(object, current, target, context, effect), headers };
}
