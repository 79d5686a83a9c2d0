/** The description of a kind: its rows, its columns, and the joins that add to them. A new kind is one more file. */

import type { ChangeStream, KubernetesObject, OwnerReference, Resource, Stored } from 'rx-informer';
import { distinctUntilChanged, map, type Observable, startWith } from 'rxjs';

/** The appearance of a row: healthy, in progress, in trouble, ended. */
export type Tone = 'good' | 'busy' | 'bad' | 'done';

/**
 * One object as a row of a table: small, flat, and with prepared sort keys, so that sorting, filtering and rendering do
 * not read the complete object again. A row is replaced only if one of its fields has changed.
 */
export interface Row {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly status: string;
  readonly tone: Tone;
  readonly createdMs: number;
  /** The object that controls this one, such as `ReplicaSet/web`; '' if there is none. */
  readonly owner: string;
  readonly ownerUid: string;
  /** Why the object is not as it should be, in words; '' if it is. */
  readonly why: string;
  /** The text that the words of the filter are searched in, in lower case. */
  readonly text: string;
  readonly [column: string]: string | number;
}

/** What the state of an object says. */
export interface State {
  readonly status: string;
  readonly tone: Tone;
  readonly why?: string;
}

/** One column. Its `id` is the field of the row that it shows and, without `by`, the field that it sorts by. */
export interface Column {
  readonly id: string;
  readonly title: string;
  readonly type: 'name' | 'status' | 'why' | 'text' | 'number' | 'age' | 'owner' | 'share';
  /** The least width in pixels. */
  readonly width: number;
  /** The part of the free width that the column takes. @defaultValue 0 */
  readonly grow?: number;
  readonly by?: string;
  /** Whether the first click on the header sorts the largest values to the top. */
  readonly largestFirst?: boolean;
  /** Whether the column is hidden until the user chooses it. */
  readonly optional?: boolean;
  /** Whether the column shows what `metrics.k8s.io` says. It is left out where that is not served. */
  readonly isUsage?: boolean;
  /** The least width in pixels beside the details, where a column with one has its place before the others. */
  readonly narrow?: number;
  /** Whether the column is shown while the table is filtered to rows in trouble. @defaultValue as otherwise */
  readonly inTrouble?: boolean;
}

export interface Sort {
  readonly key: string;
  readonly descending: boolean;
}

/** The rows of another kind, without a filter, which a kind may join with its own. */
export type RowsOf = (kind: Kind) => ChangeStream<Row>;

export interface Kind<T extends KubernetesObject = never> {
  readonly id: string;
  readonly title: string;
  readonly resource: Resource<T>;
  /** What the objects use is known to `metrics.k8s.io` under this plural. */
  readonly metered?: 'pods' | 'nodes';
  /** Only the metadata of the objects is read. @defaultValue complete objects */
  readonly as?: 'metadata';
  readonly columns: readonly Column[];
  readonly sort: Sort;
  readonly tones: Partial<Readonly<Record<Tone, string>>>;
  /** Whether the rows are those of the server's own table. Its columns are known when it was read. */
  readonly isTable?: boolean;
  /** Names by which users ask for it, beside its own. */
  readonly shortNames?: readonly string[];
  /** Whether the details show what the join says of the object, too. Those of Pods and their owners find it themselves. */
  readonly isJoinedInDetails?: boolean;
  row(object: Stored<T>): Row;
  /** Adds to the rows what other kinds say about them. It runs in the worker. */
  join?(rows$: ChangeStream<Row>, rowsOf: RowsOf): ChangeStream<object>;
  /** Makes rows of what the join emits. It runs in the page, whose state it may read. @defaultValue they are rows */
  show?(joined$: ChangeStream<object>): ChangeStream<Row>;
  /** Whether the kind is a tree, whose rows keep their places below each other. */
  readonly isTree?: boolean;
}

/** Whether a stream has held all its rows, so that a row that is missing does not exist. */
export function isComplete<T>(stream$: ChangeStream<T>): Observable<boolean> {
  return stream$.pipe(
    map(({ synced }) => synced),
    startWith(false),
    distinctUntilChanged(),
  );
}

/** What the rows of a kind are called: `StatefulSets`, and `StatefulSet` for one of them. */
export function rowsName({ isTree, isTable, title, resource }: Kind, count?: number): string {
  const name = isTree ? 'applications' : title;
  if (count !== 1) return name;
  return isTable ? resource.kind : name.replace(/(?<=ss)es$|s$/, '');
}

/** The chosen namespace, or '' for a kind whose objects are in no namespace. */
export function namespaceIn({ resource }: Kind, page: { readonly namespace: string }): string {
  return resource.namespaced ? page.namespace : '';
}

/** Infers the type of the objects from the resource. @defaultValue the rows are sorted by their names, and no state is counted */
export function defineKind<T extends KubernetesObject>(
  kind: Omit<Kind<T>, 'sort' | 'tones'> & Partial<Pick<Kind, 'sort' | 'tones'>>,
): Kind {
  return { sort: byName, tones: {}, ...kind } as unknown as Kind;
}

/** A row of an object: what all rows have, and the fields of its kind. It is found by its names and by further words. */
export function rowOf<F extends Readonly<Record<string, string | number>>>(
  object: KubernetesObject,
  state: State,
  fields: F,
  ...words: readonly string[]
): Row & F {
  const { name = '', namespace = '', uid, creationTimestamp = '' } = object.metadata ?? {};
  const { kind, name: ownerName, uid: ownerUid = '' } = ownerOf(object) ?? {};
  const owner = kind === undefined ? '' : `${kind}/${ownerName}`;
  const named = namespace === '' ? name : `${namespace}/${name}`;
  return {
    ...fields,
    uid: uid ?? `${namespace}/${name}`,
    name,
    namespace,
    status: state.status,
    tone: state.tone,
    createdMs: Date.parse(creationTimestamp) || 0,
    owner,
    ownerUid,
    why: state.why ?? '',
    text: [named, state.status, owner, ...words].filter(Boolean).join(' ').toLowerCase(),
  };
}

/** The owner that controls an object, otherwise its first owner. */
export function ownerOf({ metadata }: KubernetesObject): OwnerReference | undefined {
  const owners = metadata?.ownerReferences ?? [];
  return owners.find((reference) => reference.controller) ?? owners[0];
}

export const column = {
  name: { id: 'name', title: 'Name', type: 'name', width: 222, grow: 2, narrow: 168 },
  status: { id: 'status', title: 'Status', type: 'status', width: 156, narrow: 126 },
  why: { id: 'why', title: 'Why', type: 'why', width: 220, grow: 3, narrow: 100 },
  owner: { id: 'owner', title: 'Owner', type: 'owner', width: 160, grow: 1.6 },
  age: { id: 'createdMs', title: 'Age', type: 'age', width: 62, largestFirst: true },
  namespace: {
    id: 'namespace',
    title: 'Namespace',
    type: 'text',
    width: 104,
    grow: 0.4,
    narrow: 94,
  },
} as const satisfies Readonly<Record<string, Column>>;

/** The columns of a kind between the name and the age. */
export const columnsWith = (...own: readonly Column[]): readonly Column[] => [
  ...[column.name, ...own, column.age, column.namespace],
];

export const byName: Sort = { key: 'name', descending: false };
