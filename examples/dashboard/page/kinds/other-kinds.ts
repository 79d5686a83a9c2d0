/**
 * Kinds that only discovery knows, such as custom resources. Their rows are those of the server's own table. The id of such a kind
 * says what it is, so that the URL of its table needs no discovery.
 */
import {
  defineResource,
  type KubernetesObject,
  type TableColumn,
  type TableRow,
} from 'rx-informer';
import type { ServedKind } from '../../shared/kinds.ts';
import { byName, type Column, column, type Kind, type Row, rowOf, type Tone } from './kind.ts';

/** The id of a kind: `certs.example/v1/certificates/Certificate/namespaced`. */
export function idOfServed({ group, version, plural, kind, namespaced }: ServedKind): string {
  return [group, version, plural, kind, ...(namespaced ? ['namespaced'] : [])].join('/');
}

/** `NetworkPolicies` of `NetworkPolicy` and `networkpolicies`. */
function titleOf(kind: string, plural: string): string {
  let same = 0;
  while (same < plural.length && kind[same]?.toLowerCase() === plural[same]) same++;
  return `${kind.slice(0, same)}${plural.slice(same)}`;
}

const known = new Map<string, Kind>();

/** The kind of such an id; `undefined` if it is none. */
export function otherKind(id: string): Kind | undefined {
  const [group, version, plural, kind, scope] = id.split('/');
  if (group === undefined || !version || !plural || !kind) return undefined;
  const namespaced = scope !== undefined;
  const resource = defineResource({ group, version, plural, kind, namespaced });
  const isSecret = group === '' && plural === 'secrets';
  const made = known.get(id) ?? {
    ...{ id, resource: resource as Kind['resource'], sort: byName, tones: {}, isTable: true },
    title: titleOf(kind, plural),
    ...(isSecret && { as: 'metadata' as const }),
    columns: [column.name, column.age, ...(namespaced ? [column.namespace] : [])],
    isJoinedInDetails: true,
    row: (object: KubernetesObject) => rowIn([], object as TableRow),
  };
  known.set(id, made);
  return made;
}

const STATUS = /^(status|phase|state|ready|health|healthy)$/i;
const GOOD = /^(true|ready|active|bound|running|healthy|available|succeeded|synced|ok|current)$/i;
const BAD = /^(false|lost|degraded|unhealthy|not ?ready|.*(fail|error|backoff|invalid).*)$/i;

/** What the server says in a cell, as a tone. Other words say nothing. */
function toneOf(status: string): Tone {
  return GOOD.test(status) ? 'good' : BAD.test(status) ? 'bad' : 'done';
}

/** The row of a row of the server's table. Its cells are the fields `0`, `1` and so on. */
export function rowIn(columns: readonly TableColumn[], { metadata, cells = [] }: TableRow): Row {
  const cell = (name: RegExp) => {
    const value = cells[columns.findIndex((column) => name.test(column.name))];
    return value === null || value === undefined ? '' : String(value);
  };
  const named = cell(STATUS);
  // A word alone says nothing under a column such as Ready.
  const isPlain = /^(true|false)$/i.test(named);
  const status = isPlain ? (toneOf(named) === 'good' ? 'Ready' : 'Not ready') : named;
  const tone = toneOf(named);
  const state = { status, tone, why: tone === 'bad' ? cell(WHY) : '' };
  const values = cells.map((value) => (typeof value === 'number' ? value : String(value ?? '')));
  return rowOf({ metadata }, state, Object.fromEntries(values.entries()), ...values.map(String));
}

const WHY = /^(reason|message)$/i;

/** The kind with the columns of its table. The dashboard has columns of its own for names, ages and namespaces. */
export function withColumns(kind: Kind, sent: readonly TableColumn[]): Kind {
  const own = sent.flatMap(({ name, type, priority }, at): Column[] => {
    if (/^(name|age|namespace)$/i.test(name)) return [];
    const optional = priority > 0;
    if (STATUS.test(name)) return [{ ...column.status, title: name }];
    const isNumber = type === 'integer' || type === 'number';
    const shape = {
      type: isNumber ? 'number' : 'text',
      width: Math.max(84, name.length * 9),
    } as const;
    return [{ ...shape, id: String(at), title: name, optional, ...(!isNumber && { grow: 1 }) }];
  });
  const hasStatus = own.some(({ id }) => id === 'status');
  const [name = column.name, ...others] = kind.columns;
  const tones = { good: 'Well', bad: 'In trouble', done: 'Others' };
  return { ...kind, columns: [name, ...own, ...others], tones: hasStatus ? tones : {} };
}
