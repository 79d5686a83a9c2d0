/** POST, PUT and DELETE: what a request may ask, before the writer does it. */
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { resourceName } from '../meta/resource.ts';
import type { ObjectLog } from './object-log.ts';
import type { ObjectWriter } from './object-writer.ts';
import type { Exchange, Target } from './request.ts';
import { selectionOf } from './selection.ts';
import {
  badRequest,
  conflict,
  failure,
  invalid,
  methodNotAllowed,
  modified,
  notFound,
  unsupportedOption,
} from './status.ts';
import { listText, objectText, type StoredObject } from './stored-object.ts';

/** A body and its HTTP status. */
export interface WriteAnswer {
  readonly code: number;
  readonly body: string;
}

/** What a write works with. */
export interface WriteContext {
  readonly log: ObjectLog;
  readonly writer: ObjectWriter;
  /** Namespaces must exist as objects before something is created in them. */
  readonly checkNamespaces: boolean;
}

const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const POLICIES = ['Foreground', 'Background', 'Orphan', 'nil'];

function jsonBody(exchange: Exchange): unknown {
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

/** The object in the body, checked against the path. */
function objectIn(exchange: Exchange, { collection, namespace }: Target): KubernetesObject {
  const { resource, custom } = collection.served;
  const { kind, apiVersion } = resource;
  const unrecognized = (why: string) =>
    badRequest(
      `the object provided is unrecognized (must be of type ${kind}): ${why} (${exchange.body.slice(0, 40) || '<empty>'})`,
    );
  let object: KubernetesObject;
  try {
    object = jsonBody(exchange) as KubernetesObject;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw unrecognized(`couldn't get version/kind; json parse error: ${error.message}`);
  }
  if (typeof object !== 'object' || object === null || Array.isArray(object)) {
    throw unrecognized("couldn't get version/kind; json parse error: the body is no object");
  }
  if (custom && !object.kind) throw unrecognized("Object 'Kind' is missing");
  if ((object.kind ?? kind) !== kind || (object.apiVersion ?? apiVersion) !== apiVersion) {
    const given = `${object.kind ?? kind} in version ${JSON.stringify(object.apiVersion ?? apiVersion)}`;
    throw badRequest(`${given} cannot be handled as a ${kind}`);
  }
  const own = object.metadata?.namespace;
  if (own && own !== namespace) {
    throw badRequest(
      'the namespace of the provided object does not match the namespace sent on the request',
    );
  }
  return object;
}

/** How an `Invalid` answer names the object: built-in ones by kind, custom ones by kind and group. */
function invalidTarget({ collection }: Target, name: string) {
  const { kind, group } = collection.served.resource;
  return { kind, name, ...(group === '' ? {} : { group }) };
}

function checkName(target: Target, object: KubernetesObject): void {
  const { name, generateName } = object.metadata ?? {};
  const field = 'metadata.name';
  if (!name && !generateName) {
    const message = 'Required value: name or generateName is required';
    throw invalid(invalidTarget(target, ''), { reason: 'FieldValueRequired', message, field });
  }
  if (name && (name.length > 253 || !NAME.test(name))) {
    const message = `Invalid value: ${JSON.stringify(name)}: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${NAME.source.slice(1, -1)}')`;
    throw invalid(invalidTarget(target, name), { reason: 'FieldValueInvalid', message, field });
  }
}

/** POST on a collection. */
export function create(exchange: Exchange, target: Target, context: WriteContext): WriteAnswer {
  const { collection, namespace } = target;
  const { resource, status, initialStatus } = collection.served;
  if (resource.namespaced && namespace === '') throw methodNotAllowed();
  const object = objectIn(exchange, target);
  if (object.metadata?.resourceVersion) {
    throw failure(500, undefined, 'resourceVersion should not be set on objects to be created');
  }
  checkName(target, object);
  const namespaces = context.log.collections.get('namespaces');
  if (context.checkNamespaces && resource.namespaced && namespaces !== undefined) {
    if (!namespaces.objects.has(namespace)) throw notFound(namespaces.served.resource, namespace);
  }
  const { uid, generation, creationTimestamp, deletionTimestamp, ...metadata } =
    object.metadata ?? {};
  const fields: Record<string, unknown> = { ...object };
  if (status) delete fields.status;
  if (initialStatus !== undefined) fields.status = initialStatus;
  const stored = context.writer.create(collection, {
    ...fields,
    metadata: { ...metadata, ...(namespace === '' ? {} : { namespace }) },
  });
  return { code: 201, body: objectText(stored) };
}

/** The object a path leads to. Throws `NotFound`. */
export function existing({ collection, namespace, name = '' }: Target): StoredObject {
  const object = collection.objects.get(namespace === '' ? name : `${namespace}/${name}`);
  if (object === undefined) throw notFound(collection.served.resource, name);
  return object;
}

/** PUT on an object, or on its status. */
export function update(exchange: Exchange, target: Target, context: WriteContext): WriteAnswer {
  const { collection, name = '', subresource } = target;
  const { resource, custom } = collection.served;
  const object = objectIn(exchange, target);
  const { name: own, uid, resourceVersion, finalizers = [] } = object.metadata ?? {};
  if (own !== name) {
    throw badRequest(
      own
        ? `the name of the object (${own}) does not match the name on the URL (${name})`
        : 'the name of the object (based on metadata.name) was undeterminable: name must be provided',
    );
  }
  const current = existing(target);
  const { metadata } = current;
  if (uid && uid !== metadata.uid) {
    const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid}`;
    throw conflict(resource, name, why);
  }
  if (custom && !resourceVersion) {
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
  const added = finalizers.filter((finalizer) => !metadata.finalizers?.includes(finalizer));
  if (metadata.deletionTimestamp && added.length > 0 && subresource === undefined) {
    const list = added.map((finalizer) => JSON.stringify(finalizer)).join(', ');
    throw invalid(invalidTarget(target, name), {
      reason: 'FieldValueForbidden',
      message: `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`,
      field: 'metadata.finalizers',
    });
  }
  const part = subresource === 'status' ? 'status' : 'object';
  return { code: 200, body: objectText(context.writer.update(collection, current, object, part)) };
}

interface DeleteOptions {
  propagationPolicy?: string;
  preconditions?: { uid?: string; resourceVersion?: string };
}

function deleteOptions(exchange: Exchange): DeleteOptions {
  let options: DeleteOptions = {};
  if (exchange.body !== '') {
    try {
      options = (jsonBody(exchange) ?? {}) as DeleteOptions;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      throw badRequest(`couldn't get version/kind; json parse error: ${error.message}`);
    }
  }
  const policy = exchange.query.get('propagationPolicy') ?? options.propagationPolicy;
  if (policy !== undefined && !POLICIES.includes(policy)) {
    throw unsupportedOption('DeleteOptions', 'propagationPolicy', policy, POLICIES);
  }
  return options;
}

/** DELETE of one object. */
export function remove(exchange: Exchange, target: Target, context: WriteContext): WriteAnswer {
  const { collection, name = '' } = target;
  const { resource } = collection.served;
  const { preconditions = {} } = deleteOptions(exchange);
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
  const left = context.writer.delete(collection, current);
  if (left !== undefined) return { code: 200, body: objectText(left) };
  const { group, plural } = resource;
  const details = { name, ...(group === '' ? {} : { group }), kind: plural, uid };
  const head = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' };
  return { code: 200, body: `${JSON.stringify({ ...head, details })}\n` };
}

/** DELETE of all objects of a collection that the selectors match. */
export function removeAll(exchange: Exchange, target: Target, context: WriteContext): WriteAnswer {
  const { collection } = target;
  if (collection.served.resource.namespaced && target.namespace === '') throw methodNotAllowed();
  deleteOptions(exchange);
  const selection = selectionOf(target, exchange.query);
  const resourceVersion = String(context.log.version);
  const objects = collection.sorted().filter((object) => selection.includes(object));
  for (const object of objects) context.writer.delete(collection, object);
  return { code: 200, body: listText(collection.served, objects, { resourceVersion }) };
}

/** PATCH, which this server does not take. */
export function refusePatch(target: Target): never {
  const name = resourceName(target.collection.served.resource);
  throw failure(
    415,
    'UnsupportedMediaType',
    `the fake API server takes no PATCH of ${name}: read the object, change it and PUT it`,
    {},
  );
}
