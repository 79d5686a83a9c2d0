/**
 * What a server can make of objects before it sends them: their metadata alone, or the cells that `kubectl get`
 * prints. The same collection, versions and events; another body.
 * client-go: metadata/metadata.go; apimachinery: metav1.PartialObjectMetadata, metav1.Table.
 */
import { ApiError } from '../meta/api-error.ts';
import type { KubernetesObject, ObjectMeta } from '../meta/kubernetes-object.ts';

/** An object without spec and status, as on the wire: its own kind is that of the resource that was asked for. */
export interface PartialObjectMetadata extends KubernetesObject {
  apiVersion: 'meta.k8s.io/v1';
  kind: 'PartialObjectMetadata';
  metadata: ObjectMeta;
}

/** A column of a table: what a cell at its place means. */
export interface TableColumn {
  readonly name: string;
  /** OpenAPI's: `string`, `integer`, `number`, `boolean`, `date`. */
  readonly type: string;
  /** `name` marks the column that identifies a row. */
  readonly format: string;
  readonly description: string;
  /** 0 is always worth showing; `kubectl get -o wide` shows the others. */
  readonly priority: number;
}

/** One object as `kubectl get` prints it: `cells` in the order of the columns, and its metadata. */
export interface TableRow extends KubernetesObject {
  apiVersion: 'meta.k8s.io/v1';
  kind: 'TableRow';
  metadata: ObjectMeta;
  cells: unknown[];
  /** `Completed` on a Pod that has run to its end. */
  conditions?: { type: string; status: string; reason?: string; message?: string }[];
}

/** Asked for instead of whole objects, and how the answer is read. Whoever answers otherwise fails as a whole. */
export interface Projection {
  readonly apiVersion: 'meta.k8s.io/v1';
  /** What the objects carry that come of it. */
  readonly kind: 'PartialObjectMetadata' | 'TableRow';
  /** The kind of a list's body, and the member that has its objects. */
  readonly listKind: 'PartialObjectMetadataList' | 'Table';
  readonly member: 'items' | 'rows';
  /** The kind of what a watch event carries. */
  readonly eventKind: 'PartialObjectMetadata' | 'Table';
  /** Told of the columns of a table whenever the server sends them. */
  readonly onColumns?: (columns: readonly TableColumn[]) => void;
}

/** Metadata alone. */
export const metadataProjection: Projection = {
  apiVersion: 'meta.k8s.io/v1',
  kind: 'PartialObjectMetadata',
  listKind: 'PartialObjectMetadataList',
  member: 'items',
  eventKind: 'PartialObjectMetadata',
};

/** Rows of a table. */
export function tableProjection(onColumns: (columns: readonly TableColumn[]) => void): Projection {
  return {
    apiVersion: 'meta.k8s.io/v1',
    kind: 'TableRow',
    listKind: 'Table',
    member: 'rows',
    eventKind: 'Table',
    onColumns,
  };
}

/** A Table as far as it is read. */
interface Table {
  readonly metadata?: ObjectMeta;
  readonly columnDefinitions?: readonly TableColumn[] | null;
  readonly rows?: readonly Row[] | null;
}

interface Row {
  readonly cells?: unknown[];
  readonly conditions?: TableRow['conditions'];
  readonly object?: KubernetesObject;
}

/** Refuses what another projection, or none, made: only its emptiness would show later. */
export function expectKind(plural: string, expected: string, got: unknown): void {
  if (got === expected) return;
  const shown = typeof got === 'string' ? got.slice(0, 60) : 'no kind';
  throw new ApiError({
    code: 406,
    reason: 'NotAcceptable',
    message: `${plural}: asked for a ${expected}, got ${shown}: the server takes no notice of the Accept header, so this resource can only be read whole`,
  });
}

/** A row as the object that is stored. */
export function toRow(row: unknown): unknown {
  const { cells = [], conditions, object } = (row ?? {}) as Row;
  return {
    apiVersion: 'meta.k8s.io/v1',
    kind: 'TableRow',
    metadata: object?.metadata,
    cells,
    ...(conditions === undefined || conditions === null ? {} : { conditions }),
  };
}

/** Tells the columns of a body that has some. */
export function tellColumns(projection: Projection, body: unknown): void {
  const columns = (body as Table | null)?.columnDefinitions;
  if (columns !== undefined && columns !== null && columns.length > 0) {
    projection.onColumns?.(columns);
  }
}

/** What a watch event carries, as the objects that are stored. Throws a 406 on another kind. */
export function fromEvent(projection: Projection, plural: string, object: unknown): unknown[] {
  expectKind(plural, projection.eventKind, (object as KubernetesObject | undefined)?.kind);
  if (projection.eventKind !== 'Table') return [object];
  tellColumns(projection, object);
  return ((object as Table).rows ?? []).map(toRow);
}

/** A bookmark of a table has its annotations on a row, not on the table. */
export function bookmarkMeta(
  projection: Projection,
  plural: string,
  object: unknown,
): ObjectMeta | undefined {
  expectKind(plural, projection.eventKind, (object as KubernetesObject | undefined)?.kind);
  tellColumns(projection, object);
  const { metadata, rows } = object as Table;
  const annotations = rows?.[0]?.object?.metadata?.annotations;
  return annotations === undefined ? metadata : { ...metadata, annotations };
}
