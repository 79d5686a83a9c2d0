/** PATCH: from its media type to the object it makes, and what no patch may change. */
import type { JSONPatchOperation } from 'immutable-json-patch';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { JsonPatchFailure, jsonPatch } from './patch-json.ts';
import { type Fields, isFields, mergePatch } from './patch-merge.ts';
import type { Exchange, Target } from './request.ts';
import { badRequest, failure, forbiddenOption, invalid } from './status.ts';
import type { StoredObject } from './stored-object.ts';
import { effectOf } from './write-options.ts';
import {
  existing,
  invalidTarget,
  updatedTo,
  type WriteAnswer,
  type WriteContext,
} from './writes.ts';

const JSON_PATCH = 'application/json-patch+json';
const MERGE = 'application/merge-patch+json';

/** A body as JSON, without members that could set a prototype. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text, (name, value) => (name === '__proto__' ? undefined : value));
  } catch (error) {
    throw badRequest(`error decoding patch: ${(error as Error).message}`);
  }
}

function operationsIn(text: string): JSONPatchOperation[] {
  const operations = parsed(text);
  if (Array.isArray(operations) && operations.every(isFields)) {
    return operations as unknown as JSONPatchOperation[];
  }
  throw badRequest(
    'error decoding patch: json: cannot unmarshal the body into Go value of type []handlers.jsonPatchOp',
  );
}

function fieldsIn(text: string): Fields {
  const patch = parsed(text);
  if (isFields(patch)) return patch;
  throw badRequest(
    'error decoding patch: json: cannot unmarshal the body into Go value of type map[string]interface {}',
  );
}

/** Reads a patch: the answer makes an object from the one that is. Throws a 415 on a kind that is not served. */
export function patcher(
  { header, body }: Exchange,
  kinds: readonly string[],
): (current: Fields) => unknown {
  const type = header('content-type')?.split(';')[0]?.trim() ?? '';
  if (!kinds.includes(type)) {
    const message = `the body of the request was in an unknown format - accepted media types include: ${kinds.join(', ')}`;
    throw failure(415, 'UnsupportedMediaType', message);
  }
  switch (type) {
    case JSON_PATCH: {
      const operations = operationsIn(body);
      return (current) => {
        try {
          return jsonPatch(current, operations);
        } catch (error) {
          if (!(error instanceof JsonPatchFailure)) throw error;
          // The real server keeps to itself what was wrong.
          const message = 'the server rejected our request due to an error in our request';
          throw failure(422, 'Invalid', message, {});
        }
      };
    }
    default: {
      const patch = fieldsIn(body);
      return (current) => mergePatch(current, patch);
    }
  }
}

/** What a patch may not change, whatever its kind. */
function checkIdentity(target: Target, object: KubernetesObject, current: StoredObject): void {
  const { name = '', namespace } = target;
  const { kind, apiVersion, metadata } = object;
  if (kind !== current.kind || apiVersion !== current.apiVersion) {
    const message = `Invalid value: ${apiVersion}, Kind=${kind}: unknown conversion`;
    throw invalid({ kind: '', name: '' }, { reason: 'FieldValueInvalid', message, field: 'patch' });
  }
  if (!metadata?.name) {
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
  for (const field of ['uid', 'deletionTimestamp'] as const) {
    const value = metadata[field];
    if (!value || value === current.metadata[field]) continue;
    const message = `Invalid value: ${JSON.stringify(value)}: field is immutable`;
    const cause = { reason: 'FieldValueInvalid', message, field: `metadata.${field}` };
    throw invalid(invalidTarget(target, name), cause);
  }
}

/** PATCH of an object, or of its status. */
export function patch(exchange: Exchange, target: Target, context: WriteContext): WriteAnswer {
  const effect = effectOf(exchange, 'PatchOptions');
  if (exchange.query.has('force')) {
    throw forbiddenOption('PatchOptions', 'force', 'may not be specified for non-apply patch');
  }
  const change = patcher(exchange, [JSON_PATCH, MERGE]);
  const current = existing(target);
  const object = change(current) as KubernetesObject;
  if (!isFields(object) || !isFields(object.metadata ?? {})) {
    const cause = {
      reason: 'FieldValueInvalid',
      message: 'Invalid value: no object',
      field: 'patch',
    };
    throw invalid({ kind: '', name: '' }, cause);
  }
  checkIdentity(target, object, current);
  return updatedTo(object, current, target, context, effect);
}
