/**
 * Handles DELETE and evictions. There is no garbage collector: dependents stay, and foreground and orphaning deletions take effect
 * immediately, as if the collector had finished.
 */
import type { Status } from '../../meta/api-error.ts';
import { isFields } from '../../meta/json-fields.ts';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import { badRequest } from '../../object-log/failures.ts';
import { selectionOf } from '../../object-log/selection.ts';
import type { StoredObject } from '../../object-log/stored-object.ts';
import type { Exchange, Target } from '../http/request.ts';
import { conflict, methodNotAllowed } from '../http/status.ts';
import { checkPropagationPolicy, effectOf, type WriteEffect } from './object-writer.ts';
import { existing, jsonBody, objectIn, type WriteContext, type WriteResult } from './writes.ts';

/** The options in the body of a DELETE. */
interface DeleteOptions {
  readonly propagationPolicy?: string | undefined;
  readonly preconditions?:
    | { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined }
    | undefined;
  readonly dryRun?: readonly string[] | undefined;
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText);

/** The options in a body. A field that is null counts as absent. Throws a 400 on a field of another type. */
function optionsIn(body: unknown): DeleteOptions {
  const read = <T>(fields: unknown, name: string, isRight: (value: unknown) => value is T) => {
    const value = isFields(fields) ? (fields[name] ?? undefined) : undefined;
    if (value === undefined || isRight(value)) return value;
    throw badRequest(`json: cannot unmarshal the value of the field DeleteOptions.${name}`);
  };
  const preconditions = read(body, 'preconditions', isFields);
  return {
    propagationPolicy: read(body, 'propagationPolicy', isText),
    preconditions: {
      uid: read(preconditions, 'uid', isText),
      resourceVersion: read(preconditions, 'resourceVersion', isText),
    },
    dryRun: read(body, 'dryRun', isTexts),
  };
}

/** The options of a DELETE. If there is a body, the options in the query are ignored. */
function deleteOptions(exchange: Exchange): DeleteOptions {
  if (exchange.body === '') {
    const policy = exchange.query.get('propagationPolicy');
    return policy === null ? {} : { propagationPolicy: policy };
  }
  const unreadable = (why: string) =>
    badRequest(`couldn't get version/kind; json parse error: ${why}`);
  let body: unknown;
  try {
    body = jsonBody(exchange);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw unreadable('it is not JSON');
  }
  if (body !== null && !isFields(body)) throw unreadable('it is not an object');
  const { dryRun = [], ...options } = optionsIn(body);
  return { ...options, dryRun };
}

function effectIn(exchange: Exchange, options: DeleteOptions): WriteEffect {
  checkPropagationPolicy(options.propagationPolicy);
  return effectOf(exchange, 'DeleteOptions', options.dryRun);
}

/**
 * Deletes an object under preconditions. `left` is `undefined` if it is gone. Throws a `Conflict` if a precondition
 * fails.
 */
function deleteUnder(
  { preconditions = {} }: DeleteOptions,
  target: Target,
  context: WriteContext,
  effect: WriteEffect,
): { readonly current: StoredObject; readonly left: StoredObject | undefined } {
  const { collection, name = '' } = target;
  const { resource } = collection.served;
  const current = existing(target);
  const { uid, resourceVersion } = current.metadata;
  if (preconditions.uid !== undefined && preconditions.uid !== uid) {
    const why = `the UID in the precondition (${preconditions.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`;
    throw conflict(resource, name, why, resource.kind);
  }
  const version = preconditions.resourceVersion;
  if (version !== undefined && version !== resourceVersion) {
    const why = `the ResourceVersion in the precondition (${version}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`;
    throw conflict(resource, name, why, resource.kind);
  }
  return { current, left: context.writer.delete(collection, current, effect) };
}

/** Handles the DELETE of one object. */
export function remove(exchange: Exchange, target: Target, context: WriteContext): WriteResult {
  const { collection, name = '' } = target;
  const options = deleteOptions(exchange);
  const effect = effectIn(exchange, options);
  const { current, left } = deleteUnder(options, target, context, effect);
  if (left !== undefined) return { code: 200, content: { object: left } };
  const { group, plural } = collection.served.resource;
  const { uid } = current.metadata;
  const details = { name, ...(group === '' ? {} : { group }), kind: plural, uid };
  const status: Status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' };
  return { code: 200, content: { json: { ...status, details } } };
}

/** Handles the DELETE of all objects of a collection that the selectors match. */
export function removeAll(exchange: Exchange, target: Target, context: WriteContext): WriteResult {
  const { collection } = target;
  if (collection.served.resource.namespaced && target.namespace === '') throw methodNotAllowed();
  const effect = effectIn(exchange, deleteOptions(exchange));
  const selection = selectionOf(target, exchange.query);
  const resourceVersion = String(context.log.version);
  const objects = collection.sorted().filter((object) => selection.includes(object));
  for (const object of objects) context.writer.delete(collection, object, effect);
  return { code: 200, content: { page: { items: objects, metadata: { resourceVersion } } } };
}

/** Handles a POST of the `eviction` subresource of pods. There are no disruption budgets, so an eviction is a deletion. */
export function evict(exchange: Exchange, target: Target, context: WriteContext): WriteResult {
  const type = { kind: 'Eviction', apiVersion: 'policy/v1', custom: false };
  const body = objectIn(exchange, type, target.namespace);
  const { deleteOptions: given } = body as KubernetesObject & { deleteOptions?: unknown };
  if (body.metadata?.name !== target.name) {
    throw badRequest('name in URL does not match name in Eviction object');
  }
  const options = isFields(given) ? optionsIn(given) : {};
  const effect = effectOf(exchange, 'CreateOptions', options.dryRun);
  deleteUnder(options, target, context, effect);
  const head = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' };
  return { code: 201, content: { json: { ...head, code: 201 } } };
}
