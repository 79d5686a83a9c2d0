/** A real kube-apiserver as a server under test. It serves TLS with its own certificate. */

import type { IncomingMessage } from 'node:http';
import { request as httpRequest } from 'node:http';
import { Agent, type RequestOptions as HttpsOptions, request as httpsRequest } from 'node:https';
import type { AccessRoleRule } from 'rx-informer';
import { eventually } from '../support/patience.ts';
import {
  type ApiServer,
  minorOf,
  post,
  succeed,
  WIDGET_COLUMNS,
  WIDGETS,
  watchLines,
  widgets,
} from './api-server.ts';
import { readAnswer } from './over-fetch.ts';

/** The address of the server and the credentials of an administrator. */
export interface RealApiServer {
  readonly url: string;
  readonly token: string;
  /** The certificate in PEM. If it is left out, certificates are not verified. */
  readonly ca?: string;
  /** The address of a control server over HTTP, on which `POST /compact` compacts the storage. */
  readonly controlURL?: string;
}

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${WIDGETS.plural}.${WIDGETS.group}` },
  spec: {
    group: WIDGETS.group,
    scope: 'Namespaced',
    names: {
      plural: WIDGETS.plural,
      singular: 'widget',
      kind: WIDGETS.kind,
      listKind: 'WidgetList',
    },
    versions: [
      {
        name: WIDGETS.version,
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: WIDGET_COLUMNS,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            'x-kubernetes-preserve-unknown-fields': true,
            properties: Object.fromEntries(
              ['spec', 'status'].map((field) => [
                field,
                { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
              ]),
            ),
          },
        },
      },
    ],
  },
};

async function textOf(message: IncomingMessage): Promise<string> {
  let text = '';
  message.setEncoding('utf8');
  for await (const chunk of message) text += chunk;
  return text;
}

function headersOf(message: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(message.headers)) headers.set(name, String(value));
  return headers;
}

/** Creates the definition of widgets and waits until they can be listed and watched, which takes a moment. */
async function addWidgets(server: ApiServer): Promise<void> {
  const made = await server.request(
    'POST',
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    {
      body: definition,
    },
  );
  if (made.status !== 201 && made.status !== 409) throw new Error(made.text);
  const query = { watch: '1', timeoutSeconds: '1' };
  await eventually(async () => {
    const list = await server.request('GET', widgets('default'));
    if (list.status !== 200) return false;
    const watch = await server.request('GET', widgets('default'), { query });
    return watch.status === 200;
  }, 'the custom resource is served');
}

/** Opens the access to a real server. `close` leaves the server running. */
export async function openRealApiServer(real: RealApiServer): Promise<ApiServer> {
  const agent = new Agent({
    keepAlive: true,
    ...(real.ca === undefined ? { rejectUnauthorized: false } : { ca: real.ca }),
  });
  const send = (options: HttpsOptions, path: string, query: object, body?: string) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const url = new URL(path, real.url);
      url.search = new URLSearchParams(query as Record<string, string>).toString();
      const headers = {
        authorization: `Bearer ${real.token}`,
        // Without this header, Node sends the body of a DELETE without a length.
        ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
        ...options.headers,
      };
      const request = httpsRequest(url, { agent, ...options, headers }, resolve);
      request.on('error', reject);
      request.end(body);
    });

  const request: ApiServer['request'] = async (method, path, options = {}) => {
    const { query = {}, body, headers = {} } = options;
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const type = text === undefined ? {} : { 'content-type': 'application/json' };
    const message = await send({ method, headers: { ...type, ...headers } }, path, query, text);
    return readAnswer(message.statusCode ?? 0, headersOf(message), await textOf(message));
  };
  const server: ApiServer = {
    minor: await minorOf({ request }),
    capabilities: { widgets: true, fieldOwnership: true, garbageCollection: true },
    request,
    stream(path, query, headers = {}) {
      let closed = false;
      let message: IncomingMessage | undefined;
      async function* chunks() {
        message = await send({ method: 'GET', headers }, path, query);
        if (closed) message.destroy();
        if (message.statusCode !== 200) throw new Error(await textOf(message));
        yield* message as AsyncIterable<Uint8Array>;
      }
      return watchLines(chunks(), () => {
        closed = true;
        message?.destroy();
      });
    },
    async freshNamespace() {
      const made = await post(server, '/api/v1/namespaces', {
        metadata: { generateName: 'conformance-' },
      });
      return made.metadata.name;
    },
    async userWith(namespace, ...rules) {
      const user = `user-of-${namespace}`;
      const rights = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
      const metadata = { name: user };
      await post(server, `${rights}/roles`, { metadata, rules });
      const of = { apiGroup: 'rbac.authorization.k8s.io', name: user };
      await post(server, `${rights}/rolebindings`, {
        ...{ metadata, roleRef: { ...of, kind: 'Role' }, subjects: [{ ...of, kind: 'User' }] },
      });
      const headers = { 'impersonate-user': user };
      // The authorizer sees the new objects after a moment.
      await eventually(async () => {
        const { apiGroups, resources, verbs, resourceNames } = rules[0] as AccessRoleRule;
        const asked = { group: apiGroups[0], resource: resources[0], verb: verbs[0], namespace };
        const resourceAttributes = { ...asked, name: resourceNames?.[0] };
        const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
        const body = { spec: { resourceAttributes } };
        const review = await succeed(server, 'POST', path, { body, headers });
        return review.status.allowed === true;
      }, 'the rights are granted');
      return headers;
    },
    async close() {
      agent.destroy();
    },
  };
  const { controlURL } = real;
  if (controlURL !== undefined) {
    server.compact = () =>
      new Promise((resolve, reject) => {
        const request = httpRequest(
          new URL('/compact', controlURL),
          { method: 'POST' },
          (answer) => {
            answer.resume();
            answer.on('end', resolve);
          },
        );
        request.on('error', reject);
        request.end();
      });
  }
  await succeed(server, 'GET', '/readyz');
  await addWidgets(server);
  return server;
}
