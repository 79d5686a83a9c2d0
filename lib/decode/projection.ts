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
  /** How a table is read; absent for a projection whose bodies hold objects. */
  readonly table?: TableReading;
}

/** How the rows of a table become objects. A part of the projection, so that only those who use tables load it. */
export interface TableReading {
  /** A row as the object that is stored. */
  toObject(row: unknown): unknown;
  /** The rows of a table that a watch event carries. */
  rowsOf(table: unknown): readonly unknown[];
  /** The metadata of a bookmark, which has its annotations on a row and not on the table. */
  bookmarkOf(table: unknown): ObjectMeta | undefined;
  /** Calls `onColumns` if a body has columns. */
  tellColumns(body: unknown): void;
}

/** Metadata alone. */
export const metadataProjection: Projection = {
  apiVersion: 'meta.k8s.io/v1',
  kind: 'PartialObjectMetadata',
  listKind: 'PartialObjectMetadataList',
  member: 'items',
  eventKind: 'PartialObjectMetadata',
};

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
    message: `${plural}: asked for a ${expected}, got ${shown}: the server ignores the Accept header, so this resource has only complete objects`,
  });
}

function toRow(row: unknown): unknown {
  const { cells = [], conditions, object } = (row ?? {}) as Row;
  return {
    apiVersion: 'meta.k8s.io/v1',
    kind: 'TableRow',
    metadata: object?.metadata,
    cells,
    ...(conditions === undefined || conditions === null ? {} : { conditions }),
  };
}

function bookmarkOf(table: unknown): ObjectMeta | undefined {
  const { metadata, rows } = table as Table;
  const annotations = rows?.[0]?.object?.metadata?.annotations;
  return annotations === undefined ? metadata : { ...metadata, annotations };
}

/** Rows of a table. */
export function tableProjection(onColumns: (columns: readonly TableColumn[]) => void): Projection {
  return {
    apiVersion: 'meta.k8s.io/v1',
    kind: 'TableRow',
    listKind: 'Table',
    member: 'rows',
    eventKind: 'Table',
    onColumns,
    table: {
      toObject: toRow,
      rowsOf: (table) => (table as Table).rows ?? [],
      bookmarkOf,
      tellColumns: (body) => {
        const columns = (body as Table | null)?.columnDefinitions;
        if (columns !== undefined && columns !== null && columns.length > 0) onColumns(columns);
      },
    },
  };
}
