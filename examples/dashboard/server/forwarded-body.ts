/** Reads and checks the body of a request before it is forwarded. */
import type { IncomingMessage } from 'node:http';
import type { AllowedRequest, ProxyRules } from './allowed-requests.ts';

export interface ForwardedBody {
  readonly body: string;
  readonly contentType: string;
}

/** A request whose body is not forwarded. The message is one sentence for the user. */
export class BodyRefused extends Error {
  override readonly name = 'BodyRefused';
  readonly code: number;

  constructor(code: number, sentence: string) {
    super(sentence);
    this.code = code;
  }
}

const JSON_TYPE = 'application/json';
const PATCH_TYPES = ['json-patch+json', 'merge-patch+json', 'strategic-merge-patch+json'].map(
  (type) => `application/${type}`,
);
const MOST_BYTES = 2 * 1024 * 1024;
/** The fields of a question about rights. */
const ATTRIBUTES = ['verb', 'group', 'version', 'resource', 'subresource', 'namespace', 'name'];

async function read(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > MOST_BYTES) throw new BodyRefused(413, 'The body is longer than 2 MiB.');
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

/** The object of a text of JSON. */
export function parsed(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>;
  } catch {
    throw new BodyRefused(400, 'The body is not JSON.');
  }
}

/** A review that asks for nothing but rights to resources, composed again from the fields that it may have. */
function reviewOf(text: string, { namespace }: ProxyRules): string {
  const spec = Object(parsed(text)['spec']) as Record<string, unknown>;
  const asked = Object(spec['resourceAttributes']) as Record<string, unknown>;
  const given = ATTRIBUTES.filter((field) => typeof asked[field] === 'string');
  const resourceAttributes = Object.fromEntries(given.map((field) => [field, asked[field]]));
  if (resourceAttributes['verb'] === undefined || resourceAttributes['resource'] === undefined) {
    throw new BodyRefused(400, 'A review of rights needs spec.resourceAttributes.');
  }
  if (namespace !== undefined && resourceAttributes['namespace'] !== namespace) {
    throw new BodyRefused(403, `This dashboard shows only the namespace ${namespace}.`);
  }
  return JSON.stringify({
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes },
  });
}

const POLICIES = ['Foreground', 'Background', 'Orphan'];

/** A deletion of exactly the object that the user has seen, composed again from the options that it may have. */
function deletionOf(text: string): string {
  const { propagationPolicy, dryRun, ...given } = parsed(text);
  const { uid, resourceVersion } = Object(given['preconditions']) as Record<string, unknown>;
  if (typeof uid !== 'string' || typeof resourceVersion !== 'string') {
    throw new BodyRefused(400, 'A deletion needs the preconditions uid and resourceVersion.');
  }
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    preconditions: { uid, resourceVersion },
    ...(POLICIES.some((each) => each === propagationPolicy) ? { propagationPolicy } : {}),
    ...(dryRun === undefined ? {} : { dryRun: ['All'] }),
  });
}

/** Reads the body of a write, a deletion or a review. Rejects with {@link BodyRefused}. */
export async function readForwardedBody(
  request: IncomingMessage,
  use: AllowedRequest['use'],
  rules: ProxyRules,
): Promise<ForwardedBody> {
  // A browser always sends the origin with a write, and the guard has compared it with the page's own.
  if (request.headers.origin === undefined) {
    throw new BodyRefused(403, 'This dashboard forwards writes only of its own page.');
  }
  const contentType = request.headers['content-type'] ?? '';
  const accepted = request.method === 'PATCH' ? PATCH_TYPES : [JSON_TYPE];
  if (!accepted.includes(contentType)) {
    throw new BodyRefused(415, `The content type must be ${accepted.join(' or ')}.`);
  }
  const text = await read(request);
  if (use === 'review') return { contentType, body: reviewOf(text, rules) };
  return { contentType, body: use === 'delete' ? deletionOf(text) : text };
}
