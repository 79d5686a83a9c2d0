/**
 * Projections: reduced forms that a server can send instead of complete objects, either their metadata or the cells
 * that `kubectl get` prints. Collection, versions and events are the same; only the bodies differ. client-go:
 * metadata/metadata.go; apimachinery: metav1.PartialObjectMetadata, metav1.Table.
 */
import { ApiError } from '../meta/api-error.ts';
import type { KubernetesObject, ObjectMeta } from '../meta/kubernetes-object.ts';

/** An object without spec and status, as on the wire. Its own kind is that of the requested resource. */
export interface PartialObjectMetadata extends KubernetesObject {
  apiVersion: 'meta.k8s.io/v1';
  kind: 'PartialObjectMetadata';
  metadata: ObjectMeta;
}

/** A column of a table, which describes the cells at its position. */
export interface TableColumn {
  readonly name: string;
  /** The OpenAPI type: `string`, `integer`, `number`, `boolean`, `date`. */
  readonly type: string;
  /** `name` marks the column that identifies a row. */
  readonly format: string;
  readonly description: string;
  /** Columns with priority 0 are always shown; `kubectl get -o wide` shows the others. */
  readonly priority: number;
}

/** One object as `kubectl get` prints it: `cells` in the order of the columns, and its metadata. */
export interface TableRow extends KubernetesObject {
  apiVersion: 'meta.k8s.io/v1';
  kind: 'TableRow';
  metadata: ObjectMeta;
  cells: unknown[];
  /** `Completed` for a Pod that has run to completion. */
  conditions?: { type: string; status: string; reason?: string; message?: string }[];
}

/**
 * The representation that is requested instead of complete objects, and how its response is read. A response of
 * another kind fails completely.
 */
export interface Projection {
  readonly apiVersion: 'meta.k8s.io/v1';
  /** The kind of the stored objects. */
  readonly kind: 'PartialObjectMetadata' | 'TableRow';
  /** The kind of a list body, and the field that contains its objects. */
  readonly listKind: 'PartialObjectMetadataList' | 'Table';
  readonly member: 'items' | 'rows';
  /** The kind of the object in a watch event. */
  readonly eventKind: 'PartialObjectMetadata' | 'Table';
  /** Called with the columns of a table whenever the server sends them. */
  readonly onColumns?: (columns: readonly TableColumn[]) => void;
  /** How a table is read; absent if the bodies contain objects. */
  readonly table?: TableReading;
}

/** Converts the rows of a table to objects. Part of the projection, so that only users of tables load it. */
export interface TableReading {
  /** Converts a row to the stored object. */
  toObject(row: unknown): unknown;
  /** The rows of the table in a watch event. */
  rowsOf(table: unknown): readonly unknown[];
  /** The metadata of a bookmark. Its annotations are on a row, not on the table. */
  bookmarkOf(table: unknown): ObjectMeta | undefined;
  /** Calls `onColumns` if a body contains columns. */
  tellColumns(body: unknown): void;
}

/** Requests only the metadata of objects. */
export const metadataProjection: Projection = {
  apiVersion: 'meta.k8s.io/v1',
  kind: 'PartialObjectMetadata',
  listKind: 'PartialObjectMetadataList',
  member: 'items',
  eventKind: 'PartialObjectMetadata',
};

/** The fields of a Table that are read. */
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

/**
 * Throws an `ApiError` if the server sent another kind, because otherwise the only symptom would be an empty store.
 */
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

/** Requests the rows of a table. `onColumns` is called whenever the server sends columns. */
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
