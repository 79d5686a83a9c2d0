/** Handles POST and PUT: validates the request, then calls the writer. */
import { isFields } from '../../meta/json-fields.ts';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import { badRequest, failure, invalid } from '../../object-log/failures.ts';
import type { Page } from '../../object-log/list.ts';
import type { StoredObject } from '../../object-log/stored-object.ts';
import { type AccessContext, checkAccess } from '../http/access.ts';
import type { Exchange, Target } from '../http/request.ts';
import { conflict, methodNotAllowed, modified, notFound } from '../http/status.ts';
import type { ServerLog } from '../served-resource.ts';
import { dataCauses, immutableCauses, metadataCauses, nameCauses } from './metadata-rules.ts';
import { decodedObject, metadataTypeError } from './metadata-types.ts';
import { effectOf, kindOf, type ObjectWriter, type WriteEffect } from './object-writer.ts';

/** The content of a response: an object or a page, which have several representations, or plain JSON. */
export type Content =
  | { readonly object: StoredObject }
  | { readonly page: Page }
  | { readonly json: object };

/** The response to a write, with its HTTP status. */
export interface WriteResult {
  readonly code: number;
  readonly content: Content;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The dependencies of a write. */
export interface WriteContext extends AccessContext {
  readonly log: ServerLog;
  readonly writer: ObjectWriter;
  /** Whether a Namespace object must exist before an object is created in the namespace. */
  readonly checkNamespaces: boolean;
}

/** Parses the body. Throws a `SyntaxError` if it is not JSON, and a 415 on another content type. */
export function jsonBody(exchange: Exchange): unknown {
  const type = exchange.header('content-type')?.split(';')[0]?.trim() ?? 'application/json';
  if (type !== 'application/json') {
    throw failure(
      415,
      'UnsupportedMediaType',
      'the body of the request was in an unknown format - accepted media types include: application/json',
    );
  }
  return JSON.parse(exchange.body);
}

/** Reads the object in the body, which must have this type and the namespace of the path. */
export function objectIn(
  exchange: Exchange,
  { kind, apiVersion, custom }: { kind: string; apiVersion: string; custom: boolean },
  namespace: string,
): KubernetesObject {
  const unrecognized = (why: string) =>
    badRequest(
      `the object provided is unrecognized (must be of type ${kind}): ${why} (${exchange.body.slice(0, 40) || '<empty>'})`,
    );
  let body: unknown;
  try {
    body = jsonBody(exchange) ?? {};
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw unrecognized("couldn't get version/kind; json parse error: it is not JSON");
  }
  if (!isFields(body)) {
    throw unrecognized("couldn't get version/kind; json parse error: the body is not an object");
  }
  const object = body as KubernetesObject;
  if (custom && !object.kind) throw unrecognized("Object 'Kind' is missing");
  if ((object.kind ?? kind) !== kind || (object.apiVersion ?? apiVersion) !== apiVersion) {
    const version = (object.apiVersion ?? apiVersion).split('/').at(-1);
    const given = `${object.kind ?? kind} in version ${JSON.stringify(version)}`;
    throw badRequest(`${given} cannot be handled as a ${kind}`);
  }
  const wrongType = metadataTypeError({ kind, custom }, object.metadata);
  if (wrongType !== undefined) {
    const version = JSON.stringify(apiVersion.split('/').at(-1));
    throw badRequest(`${kind} in version ${version} cannot be handled as a ${kind}: ${wrongType}`);
  }
  const own = object.metadata?.namespace;
  if (own && own !== namespace) {
    throw badRequest(
      'the namespace of the provided object does not match the namespace sent on the request',
    );
  }
  return object;
}

function typeOf({ collection }: Target): { kind: string; apiVersion: string; custom: boolean } {
  const { resource, custom } = collection.served;
  return { kind: resource.kind, apiVersion: resource.apiVersion, custom };
}

/** How an `Invalid` response names an object. */
export function invalidTarget({ collection }: Target, name: string): Parameters<typeof invalid>[0] {
  return { ...kindOf(collection.served.resource), name };
}

/** Refuses an object with metadata or data that a real server refuses. */
function checkFields(
  target: Target,
  object: KubernetesObject,
  name: string,
  generateName?: string,
): void {
  const { served } = target.collection;
  const causes = [
    ...nameCauses(served, generateName, name),
    ...metadataCauses(served, object.metadata ?? {}),
    ...dataCauses(served, object),
  ];
  if (causes.length > 0) throw invalid(invalidTarget(target, name), ...causes);
}

/** Handles a POST to a collection. */
export function create(exchange: Exchange, target: Target, context: WriteContext): WriteResult {
  const { collection, namespace } = target;
  if (collection.served.resource.namespaced && namespace === '') throw methodNotAllowed();
  const object = objectIn(exchange, typeOf(target), target.namespace);
  if (object.metadata?.resourceVersion) {
    throw failure(500, undefined, 'resourceVersion should not be set on objects to be created');
  }
  return createdFrom(object, exchange, target, context, effectOf(exchange, 'CreateOptions'));
}

/**
 * Creates the object that a client sent, without the fields that only the server sets. A PUT and an apply need the verb
 * `create`, too. kubernetes: apiserver/pkg/endpoints/handlers/create.go, withAuthorization
 */
export function createdFrom(
  sent: KubernetesObject,
  exchange: Exchange,
  target: Target,
  context: WriteContext,
  effect: WriteEffect,
): WriteResult {
  const object = decodedObject(sent);
  const { collection, namespace } = target;
  const { resource, status, initialStatus } = collection.served;
  const namespaces = context.log.collections.get('namespaces');
  if (context.checkNamespaces && resource.namespaced && namespaces !== undefined) {
    if (!namespaces.objects.has(namespace)) throw notFound(namespaces.served.resource, namespace);
  }
  const { uid, generation, creationTimestamp, deletionTimestamp, ...given } = object.metadata ?? {};
  const metadata = { ...given, name: context.writer.newName(collection.served, given) };
  checkFields(target, object, metadata.name, given.generateName);
  if (target.name !== undefined) checkAccess(context, exchange, 'create', target);
  const fields: Record<string, unknown> = { ...object };
  if (status) delete fields.status;
  if (initialStatus !== undefined) fields.status = initialStatus;
  const made = { ...fields, metadata: { ...metadata, ...(namespace === '' ? {} : { namespace }) } };
  const stored = context.writer.create(collection, made, effect);
  return { code: 201, content: { object: stored } };
}

/** Returns the object at a path, if it exists. */
export function found({ collection, namespace, name = '' }: Target): StoredObject | undefined {
  return collection.objects.get(namespace === '' ? name : `${namespace}/${name}`);
}

/** Returns the object at a path. Throws `NotFound`. */
export function existing(target: Target): StoredObject {
  const object = found(target);
  if (object !== undefined) return object;
  throw notFound(target.collection.served.resource, target.name ?? '');
}

/** Refuses an object whose name differs from the name in the path. */
export function checkPathName({ metadata }: KubernetesObject, { name = '' }: Target): void {
  const own = metadata?.name;
  if (own === name) return;
  throw badRequest(
    own
      ? `the name of the object (${own}) does not match the name on the URL (${name})`
      : 'the name of the object (based on metadata.name) was undeterminable: name must be provided',
  );
}

/** Handles a PUT of an object or of its status. For some resources it creates a missing object. */
export function update(exchange: Exchange, target: Target, context: WriteContext): WriteResult {
  const { collection, name = '' } = target;
  const object = objectIn(exchange, typeOf(target), target.namespace);
  const uid = object.metadata?.uid;
  checkPathName(object, target);
  const { createOnUpdate, resource } = collection.served;
  const current = createOnUpdate ? found(target) : existing(target);
  const there = current?.metadata.uid ?? '';
  if (uid && uid !== there) {
    const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${there}`;
    throw conflict(resource, name, why);
  }
  const effect = effectOf(exchange, 'UpdateOptions');
  if (current === undefined) return createdFrom(object, exchange, target, context, effect);
  return updatedTo(object, current, target, context, effect);
}

/** Replaces an object, if its version and its finalizers permit. */
export function updatedTo(
  sent: KubernetesObject,
  current: StoredObject,
  target: Target,
  context: WriteContext,
  effect: WriteEffect,
): WriteResult {
  const object = decodedObject(sent);
  const { collection, name = '', subresource } = target;
  const { resource, unconditionalUpdate } = collection.served;
  const { metadata } = current;
  const { resourceVersion, finalizers } = object.metadata ?? {};
  if (!unconditionalUpdate && !resourceVersion) {
    throw invalid(
      { kind: resource.plural, name, group: resource.group },
      {
        reason: 'FieldValueInvalid',
        message: 'Invalid value: 0: must be specified for an update',
        field: 'metadata.resourceVersion',
      },
    );
  }
  if (resourceVersion && resourceVersion !== metadata.resourceVersion) {
    throw conflict(resource, name, modified);
  }
  const added = (finalizers ?? []).filter((each) => !metadata.finalizers?.includes(each));
  if (metadata.deletionTimestamp && added.length > 0 && subresource === undefined) {
    const list = added.map((finalizer) => JSON.stringify(finalizer)).join(', ');
    throw invalid(invalidTarget(target, name), {
      reason: 'FieldValueForbidden',
      message: `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`,
      field: 'metadata.finalizers',
    });
  }
  checkFields(target, object, name);
  const causes = immutableCauses(collection.served, object, current);
  if (causes.length > 0) throw invalid(invalidTarget(target, name), ...causes);
  const part = subresource === 'status' ? 'status' : 'object';
  const stored = context.writer.update(collection, current, object, part, effect);
  return { code: 200, content: { object: stored } };
}
