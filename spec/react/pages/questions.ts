/** What a component asks for, and the plain recomputation of its answer. */
import { type LiveQuery, liveQuery, type Resource } from 'rx-informer';
import { type ConfigMap, configMaps, secrets } from 'rx-informer/resources';

/** The two resources have the same fields, so that rows of one could be taken for rows of the other. */
export const RESOURCES = [configMaps, secrets as unknown as Resource<ConfigMap>] as const;

export function resourceOf({ of }: Question): Resource<ConfigMap> {
  return RESOURCES[of] as Resource<ConfigMap>;
}

export type Columns = 'all' | 'names' | 'titles' | 'keyed';

export interface Question {
  /** An index of `RESOURCES`. */
  readonly of: number;
  /** The resource is `undefined`, so that nothing is asked. */
  readonly off: boolean;
  readonly namespace: string | readonly string[] | undefined;
  readonly label: string;
  /** The name that the field selector asks for. */
  readonly name: string | undefined;
  readonly where: boolean;
  readonly columns: Columns;
  readonly as: 'metadata' | undefined;
  readonly order: 'none' | 'name' | 'value';
  readonly limit: number | undefined;
  readonly offset: number | undefined;
}

/** An object as the model compares it. */
export interface Facts {
  readonly cluster: string;
  readonly of: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly app?: string;
  readonly value?: string;
  readonly flag?: string;
  readonly version?: string;
}

const NAMES = {
  of: 'metadata.labels.of',
  cluster: 'metadata.labels.cluster',
  namespace: 'metadata.namespace',
  uid: 'metadata.uid',
} as const;

function selectOf({ columns, as }: Question): unknown {
  if (columns === 'all') return undefined;
  if (columns === 'names') return { ...NAMES, name: 'metadata.name', app: 'metadata.labels.app' };
  const isObject = as === undefined;
  if (columns === 'titles') {
    return {
      ...NAMES,
      title: 'metadata.name',
      ...(isObject && { value: 'data.v', flag: 'data.g' }),
    };
  }
  const project = ({ metadata, data }: ConfigMap) => ({
    of: metadata?.labels?.['of'],
    cluster: metadata?.labels?.['cluster'],
    namespace: metadata?.namespace,
    uid: metadata?.uid,
    key: metadata?.name,
    app: metadata?.labels?.['app'],
    ...(isObject && { value: data?.['v'] }),
  });
  return { key: `keyed ${as}`, project };
}

/** The options of `useList`, new objects at each call. */
export function optionsOf(question: Question): object {
  const { namespace, label, name, where, as, order, limit, offset } = question;
  const by = [{ path: 'metadata.name' }, { path: 'metadata.namespace' }];
  const select = selectOf(question);
  return {
    ...(namespace !== undefined && { namespace }),
    ...(label !== '' && { labelSelector: label }),
    ...(name !== undefined && { fieldSelector: `metadata.name=${name}` }),
    ...(where && {
      where:
        as === undefined ? { path: 'data.g', eq: '1' } : { path: 'metadata.labels.app', eq: 'q' },
    }),
    ...(select !== undefined && { select }),
    ...(as !== undefined && { as }),
    ...(order === 'name' && { orderBy: by }),
    ...(order === 'value' && {
      orderBy: as === undefined ? { path: 'data.v', direction: 'desc' } : by,
    }),
    ...(limit !== undefined && { limit }),
    ...(offset !== undefined && { offset }),
  };
}

export function queryOf(question: Question): LiveQuery {
  return liveQuery({ ...optionsOf(question), from: resourceOf(question) } as never) as LiveQuery;
}

/** The scope of `useInformer` that asks for the same objects. */
export function scopeOf({ namespace, label, name }: Question) {
  return {
    ...(typeof namespace === 'string' && { namespace }),
    ...(typeof namespace === 'object' && { namespaces: namespace }),
    ...(label !== '' && { labelSelector: label }),
    ...(name !== undefined && { fieldSelector: `metadata.name=${name}` }),
  };
}

/** The facts of a row of any columns, and which columns these are. */
export function factsOf(row: object): Facts & { readonly columns: Columns; readonly as?: string } {
  const columns =
    'metadata' in row ? 'all' : 'title' in row ? 'titles' : 'key' in row ? 'keyed' : 'names';
  if (columns !== 'all') {
    const { title, key, name, ...rest } = row as Record<string, string>;
    return { ...(rest as unknown as Facts), name: title ?? key ?? name ?? '', columns };
  }
  const { metadata, data } = row as ConfigMap;
  const { labels = {}, namespace = '', name = '', uid = '', resourceVersion = '' } = metadata ?? {};
  return {
    ...{ columns, namespace, name, uid, version: resourceVersion },
    ...{ cluster: labels['cluster'] ?? '', of: labels['of'] ?? '', app: labels['app'] ?? '' },
    ...(data === undefined
      ? { as: 'metadata' }
      : { value: data['v'] ?? '', flag: data['g'] ?? '' }),
  };
}

export function isInScope({ namespace, label, name }: Question, facts: Facts): boolean {
  const namespaces = typeof namespace === 'string' ? [namespace] : namespace;
  if (namespaces !== undefined && !namespaces.includes(facts.namespace)) return false;
  if (label !== '' && facts.app !== undefined && label !== `app=${facts.app}`) return false;
  return name === undefined || name === facts.name;
}

function isSelected(question: Question, facts: Facts): boolean {
  if (!isInScope(question, facts)) return false;
  if (!question.where) return true;
  return question.as === undefined ? facts.flag === '1' : facts.app === 'q';
}

const byText = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0);

/** The order of a question; absent: none. */
export function comparisonOf({ order, as, limit, offset }: Question) {
  const byName = (one: Facts, other: Facts) =>
    byText(one.name, other.name) || byText(one.namespace, other.namespace);
  if (order === 'value' && as === undefined) {
    return (one: Facts, other: Facts) => byText(other.value ?? '', one.value ?? '');
  }
  if (order !== 'none') return byName;
  if (limit === undefined && offset === undefined) return undefined;
  return (one: Facts, other: Facts) =>
    byText(one.namespace, other.namespace) || byText(one.name, other.name);
}

/** The rows that the objects give, and how many there are without `limit` and `offset`. */
export function answerOf(question: Question, objects: readonly Facts[]) {
  const selected = objects.filter((each) => isSelected(question, each));
  const compare = comparisonOf(question);
  const ordered = compare === undefined ? selected : [...selected].sort(compare);
  const { offset = 0, limit = ordered.length } = question;
  return { rows: ordered.slice(offset, offset + limit), total: selected.length };
}

/** One line for a row, of what both the row and the object have. */
export function lineOf({ cluster, of, namespace, name, uid, value, flag }: Facts): string {
  return [cluster, of, namespace, name, uid, value ?? '', flag ?? ''].join(' ');
}

/** A row of the question that shows the object. */
export function shownBy({ columns, as }: Question, facts: Facts): Facts {
  const { value, flag, version: _version, app: _app, ...names } = facts;
  if (as !== undefined || columns === 'names') return names;
  return {
    ...names,
    ...(value !== undefined && { value }),
    ...(columns !== 'keyed' && flag !== undefined && { flag }),
  };
}
