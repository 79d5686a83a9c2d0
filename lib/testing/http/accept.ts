/**
 * Negotiates the representation of a response: complete objects, their metadata only, or rows of a table; each with or
 * without `managedFields`.
 */
import { failure } from '../../object-log/failures.ts';

/** The representation of objects in a response. */
export type Representation =
  | 'Object'
  | 'PartialObjectMetadata'
  | 'PartialObjectMetadataList'
  | 'Table';

/** The answer to an `Accept` header. */
export interface Negotiated {
  readonly as: Representation;
  /** Whether the client asked for objects without `metadata.managedFields` (KEP-5958). */
  readonly dropsManagedFields: boolean;
}

const JSON_TYPE = 'application/json';
const ACCEPTED = ['*/*', 'application/*', JSON_TYPE];
/** The only value of the parameter `drop`. Another one makes the media type unacceptable. */
const MANAGED_FIELDS = 'metadata.managedFields';
const PROJECTIONS = ['PartialObjectMetadata', 'PartialObjectMetadataList', 'Table'] as const;

function quality(parameters: ReadonlyMap<string, string>): number {
  const value = Number(parameters.get('q') ?? '1');
  return Number.isNaN(value) ? 1 : value;
}

function representationOf(
  type: string,
  parameters: ReadonlyMap<string, string>,
): Representation | undefined {
  if (!ACCEPTED.includes(type)) return undefined;
  if ((parameters.get('drop') ?? MANAGED_FIELDS) !== MANAGED_FIELDS) return undefined;
  const as = parameters.get('as');
  if (as === undefined) return 'Object';
  const known = parameters.get('g') === 'meta.k8s.io' && parameters.get('v') === 'v1';
  return known ? PROJECTIONS.find((each) => each === as) : undefined;
}

/** Returns the first supported media type of an `Accept` header. Throws a 406 if it contains none. */
export function negotiate(header: string | null): Negotiated {
  if (header === null || header.trim() === '') return { as: 'Object', dropsManagedFields: false };
  const ranges = header.split(',').map((range) => {
    const [type = '', ...rest] = range.split(';').map((part) => part.trim());
    const pairs = rest.map((part): [string, string] => {
      const at = part.indexOf('=');
      return at < 0 ? [part, ''] : [part.slice(0, at), part.slice(at + 1)];
    });
    return { type, parameters: new Map(pairs) };
  });
  ranges.sort((a, b) => quality(b.parameters) - quality(a.parameters));
  for (const { type, parameters } of ranges) {
    const as = representationOf(type, parameters);
    if (as !== undefined) return { as, dropsManagedFields: parameters.has('drop') };
  }
  const message = `only the following media types are accepted: ${JSON_TYPE}`;
  throw failure(406, 'NotAcceptable', message);
}
