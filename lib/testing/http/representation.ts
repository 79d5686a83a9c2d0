/**
 * Renders objects in the representation that a client requested: complete, as `PartialObjectMetadata`, or as rows of a
 * `Table`. client-go: apiserver/pkg/endpoints/handlers/response.go.
 */
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import { badRequest, failure } from '../../object-log/failures.ts';
import { listText, objectText, type StoredObject } from '../../object-log/stored-object.ts';
import type { ServedResource } from '../served-resource.ts';
import { columnsOf } from '../tables/table-columns.ts';
import type { Exchange } from './request.ts';

/** The representation of objects in a response. */
type Representation = 'Object' | 'PartialObjectMetadata' | 'PartialObjectMetadataList' | 'Table';

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
function negotiate(header: string | null): Negotiated {
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

/** The metadata of a list: its version and its continue token. */
export type ListMeta = Readonly<Record<string, unknown>>;

/**
 * Renders the object of an event. `first` is true for the first event of the watch. Returns `undefined` if the event is
 * sent as it is.
 */
export type EventRenderer = (object: KubernetesObject, first: boolean) => string | undefined;

/** Renders objects for one request. */
export interface Renderer {
  readonly as: Representation;
  /** Renders one object, or the result of a write. */
  object(object: StoredObject): string;
  list(objects: readonly StoredObject[], metadata: ListMeta): string;
  /** How a watch renders the objects of its events. `undefined` means that they are sent as they are. */
  watch(): EventRenderer | undefined;
}

const META = 'meta.k8s.io/v1';
const INCLUDES = ['None', 'Metadata', 'Object'];

function partial({ metadata }: KubernetesObject): object {
  return { kind: 'PartialObjectMetadata', apiVersion: META, metadata };
}

function tables(served: ServedResource, include: string, now: () => number) {
  const columns = columnsOf(served);
  const definitions = columns.map(({ definition }) => definition);
  const row = (object: KubernetesObject) => ({
    cells: columns.map(({ cell }) => cell(object, now())),
    object: include === 'None' ? null : include === 'Object' ? object : partial(object),
  });
  return (objects: readonly KubernetesObject[], metadata: ListMeta, defined = true) =>
    JSON.stringify({
      kind: 'Table',
      apiVersion: META,
      metadata,
      columnDefinitions: defined ? definitions : null,
      rows: objects.map(row),
    });
}

function notAcceptable(as: Representation, what: string): Error {
  const message = `you requested ${as}, but the requested object is ${what}`;
  return failure(406, 'NotAcceptable', message);
}

function withoutManagedFields<T extends KubernetesObject>(object: T): T {
  if (object.metadata?.managedFields === undefined) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** Leaves `managedFields` out of everything that `renderer` renders. */
function dropping(renderer: Renderer): Renderer {
  return {
    as: renderer.as,
    object: (object) => renderer.object(withoutManagedFields(object)),
    list: (objects, metadata) => renderer.list(objects.map(withoutManagedFields), metadata),
    watch() {
      const render = renderer.watch();
      return (object, first) => {
        const left = withoutManagedFields(object);
        if (render !== undefined) return render(left, first);
        return left === object ? undefined : objectText(left as StoredObject);
      };
    },
  };
}

/** Reads `Accept` and `includeObject`. Throws a 406 or a 400 if the requested representation does not exist. */
export function rendererOf(
  exchange: Exchange,
  served: ServedResource,
  now: () => number,
): Renderer {
  const { as, dropsManagedFields } = negotiate(exchange.header('accept'));
  const renderer = rendererAs(as, exchange, served, now);
  return dropsManagedFields ? dropping(renderer) : renderer;
}

function rendererAs(
  as: Representation,
  { query }: Exchange,
  served: ServedResource,
  now: () => number,
): Renderer {
  if (as === 'Object') {
    const list: Renderer['list'] = (objects, metadata) => listText(served, objects, metadata);
    return { as, object: objectText, list, watch: () => undefined };
  }
  if (as === 'Table') {
    const include = query.get('includeObject') || 'Metadata';
    if (!INCLUDES.includes(include)) {
      throw badRequest(
        `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(include)}: must be 'Metadata', 'Object', 'None', or empty`,
      );
    }
    const table = tables(served, include, now);
    const versionOf = ({ metadata }: KubernetesObject) => ({
      resourceVersion: metadata?.resourceVersion,
    });
    return {
      as,
      object: (object) => `${table([object], versionOf(object))}\n`,
      list: (objects, metadata) => `${table(objects, metadata)}\n`,
      watch: () => (object, first) => table([object], versionOf(object), first),
    };
  }
  return {
    as,
    object(object) {
      if (as === 'PartialObjectMetadata') return `${JSON.stringify(partial(object))}\n`;
      throw notAcceptable(as, `not a list (${served.resource.kind})`);
    },
    list(objects, metadata) {
      if (as === 'PartialObjectMetadata') {
        throw notAcceptable(as, `a list (${served.resource.kind}List)`);
      }
      const items = objects.map(partial);
      return `${JSON.stringify({ kind: as, apiVersion: META, metadata, items })}\n`;
    },
    watch() {
      if (as === 'PartialObjectMetadata') return (object) => JSON.stringify(partial(object));
      throw notAcceptable(as, `not a list (${served.resource.kind})`);
    },
  };
}
