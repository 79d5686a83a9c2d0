/** Builds and sends the requests of one resource, from targets, bodies and options. */

import { check } from '../checks/checked-option.ts';
import { ApiError } from '../meta/api-error.ts';
import { isFields } from '../meta/json-fields.ts';
import type { KubernetesObject, Stored } from '../meta/kubernetes-object.ts';
import { type Resource, resourceName, resourcePath } from '../meta/resource.ts';
import { shownServer } from '../transport/address.ts';
import type { KubeRequest } from '../transport/call.ts';
import type { KubeClient } from '../transport/kube-client.ts';
import type { CallOptions, WriteOptions } from './call-options.ts';
import { type CallQuery, writeQuery } from './call-query.ts';
import { addressOf, namespaceFor, type ObjectTarget } from './object-target.ts';
import { type Patch, patchBody } from './patch.ts';
import type { Applied, ApplyOptions } from './resource-client.ts';

/** One request, without its path. */
export interface Call extends Pick<KubeRequest, 'method' | 'query' | 'body' | 'headers'> {
  readonly subresource?: string;
  readonly isList?: boolean;
}

/** Adds `kind` and `apiVersion` at the front if they are missing. Items of built-in lists lack them. */
export function typed<T extends KubernetesObject>(
  object: T,
  { kind, apiVersion }: { readonly kind: string; readonly apiVersion: string },
): T {
  if (object.kind !== undefined && object.apiVersion !== undefined) return object;
  return { kind, apiVersion, ...object };
}

/** The requests of one resource, in one namespace or in all. */
export class Calls<T extends KubernetesObject> {
  readonly client: KubeClient;
  readonly resource: Resource<T>;
  readonly scope: string | undefined;

  constructor(client: KubeClient, resource: Resource<T>, scope: string | undefined) {
    this.client = client;
    this.resource = resource;
    this.scope = scope;
  }

  /**
   * Sends one request. Rejects if the response is not an object of the requested kind: what answers then is no API server,
   * and its response would count as a read or a write.
   */
  async send<R>(path: string, call: Call, signal: AbortSignal | undefined): Promise<R> {
    const { subresource, isList = false, ...request } = call;
    const answer = await this.client.request({
      ...request,
      path,
      ...(signal === undefined ? {} : { signal }),
    });
    const where = `${call.method ?? 'GET'} ${path}`;
    if (isFields(answer)) {
      const kinds = this.#kinds(call, subresource, isList);
      const { kind, metadata } = answer;
      // Servers may refuse a call with a Status whose HTTP status is 200. client-go: rest/request.go, Result.Into.
      if (kind === 'Status' && answer['status'] === 'Failure') {
        throw ApiError.fromStatus(answer, 500, { where });
      }
      if (kinds?.includes(kind) && kind === this.resource.kind && !isFields(metadata)) {
        throw ApiError.local('Unexpected', `${where}: the ${kind} has no metadata`);
      }
      if (kinds === undefined || kinds.includes(kind)) return answer as R;
      const isKind = typeof kind === 'string' && kind !== '' && kind !== 'Status';
      const got = isKind ? JSON.stringify(kind.slice(0, 60)) : 'another object';
      throw ApiError.local(
        isKind ? 'WrongKind' : 'Unexpected',
        `${where}: expected a ${kinds[0]}, got ${got}; is ${shownServer(this.client.baseUrl)} an API server, and the kind of the resource right?`,
      );
    }
    // A response without a type is text.
    const why =
      typeof answer === 'string' && answer.startsWith('{')
        ? 'the response is JSON, but has no content-type that says so; does a proxy drop this header?'
        : `the response is not an object; is ${shownServer(this.client.baseUrl)} an API server?`;
    const message = `${where}: ${why}`;
    throw ApiError.local('Unexpected', message);
  }

  /** The kinds of a right response; `undefined` if they are not known. */
  #kinds({ method }: Call, subresource: string | undefined, isList: boolean) {
    const { kind } = this.resource;
    if (subresource === 'scale') return ['Scale'];
    if (kind === '' || (subresource !== undefined && subresource !== 'status')) return undefined;
    const kinds: unknown[] = isList ? [`${kind}List`, 'List'] : [kind];
    return method === 'DELETE' ? [...kinds, 'Status'] : kinds;
  }

  /** Sends one request for one object. */
  async on<R>(target: ObjectTarget, call: Call, options: CallOptions): Promise<R> {
    const { subresource } = call;
    const address = addressOf(this.resource, target, this.scope);
    const path = resourcePath(this.resource, {
      ...address,
      ...(subresource === undefined ? {} : { subresource }),
    });
    return await this.send<R>(path, call, options.signal);
  }

  /**
   * The path of the collection. `onlyOne` is the name of a call that exists per namespace only; with it, a namespace
   * is required.
   */
  collection(namespace: string | undefined, onlyOne?: string): string {
    const found = namespaceFor(this.resource, namespace, this.scope);
    if (found === undefined && onlyOne !== undefined && this.resource.namespaced) {
      throw new TypeError(
        `${onlyOne} of ${resourceName(this.resource)} needs a namespace: set it in the object or options, or use client.namespace(…)`,
      );
    }
    return resourcePath(this.resource, found === undefined ? {} : { namespace: found });
  }

  /** The object as a request body. Callers may leave out the type, but servers require it for custom resources. */
  body(object: KubernetesObject): KubernetesObject {
    const name = `${resourceName(this.resource)}: the value to write`;
    check(isFields(object), name, object, 'an object');
    return typed(object, this.resource);
  }

  put(object: T, options: WriteOptions, subresource?: string): Promise<Stored<T>> {
    const call = { method: 'PUT', body: this.body(object), query: writeQuery(options) };
    return this.on(object, subresource === undefined ? call : { ...call, subresource }, options);
  }

  patch<R>(
    target: ObjectTarget,
    patch: Patch<never>,
    options: WriteOptions,
    subresource?: string,
  ): Promise<R> {
    const { contentType, body } = patchBody(patch);
    const headers = { 'content-type': contentType };
    const call = { method: 'PATCH', body, headers };
    const query = writeQuery(options);
    return this.on(
      target,
      { ...call, query, ...(subresource === undefined ? {} : { subresource }) },
      options,
    );
  }

  apply(object: Applied<T>, options: ApplyOptions, subresource?: string): Promise<Stored<T>> {
    if (!options?.fieldManager) {
      throw new TypeError(
        `apply of ${resourceName(this.resource)}: fieldManager is missing; name the owner of the applied fields, such as 'my-controller'`,
      );
    }
    const query: CallQuery = {
      ...writeQuery(options),
      ...(options.force === true ? { force: 'true' } : {}),
    };
    // An apply has only one content type, YAML, and JSON is valid YAML.
    const headers = { 'content-type': 'application/apply-patch+yaml' };
    const body = this.body(object as KubernetesObject);
    return this.on(
      object as ObjectTarget,
      {
        method: 'PATCH',
        query,
        headers,
        body,
        ...(subresource === undefined ? {} : { subresource }),
      },
      options,
    );
  }
}
