/**
 * The columns of tables. Pods, deployments, replica sets, config maps, secrets and namespaces have those of a real
 * server, custom resources those of their definition, and all other resources a name and an age.
 */

import type { PrinterColumn, ServedResource } from '../served-resource.ts';
import { jsonPath } from './json-path.ts';
import { podCells } from './pod-columns.ts';

/** A `TableColumnDefinition`. */
export interface ColumnDefinition {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
}

/** A column, and the function that computes its cells. */
export interface Column {
  readonly definition: ColumnDefinition;
  cell(object: object, nowMs: number): unknown;
}

function at(path: string): (object: unknown) => unknown {
  const read = jsonPath(path);
  return (object) => read(object)[0];
}

function column(
  name: string,
  cell: Column['cell'],
  definition: Partial<ColumnDefinition> = {},
): Column {
  const plain = { name, type: 'string', format: '', description: name, priority: 0 };
  return { definition: { ...plain, ...definition }, cell };
}

/** The columns of the built-in kinds, and those that several kinds have. */
function builtInColumns() {
  const created = at('.metadata.creationTimestamp');
  const nameOf = at('.metadata.name');
  const name = column('Name', (object) => nameOf(object) ?? '', { format: 'name' });
  const age = column('Age', (object, nowMs) => ageOf(created(object), nowMs));
  const dated = column('Age', age.cell, { type: 'date' });
  const wide = { priority: 1 };

  const text = (title: string, path: string, missing: string, definition = {}) => {
    const read = at(path);
    return column(title, (object) => read(object) || missing, definition);
  };
  const count = (path: string) => {
    const read = at(path);
    return (object: object) => Number(read(object) ?? 0);
  };
  const integer = (title: string, path: string) => column(title, count(path), { type: 'integer' });
  const members = (title: string, ...paths: string[]) => {
    const reads = paths.map(at);
    return column(title, (object) =>
      reads.reduce((sum, read) => sum + Object.keys(read(object) ?? {}).length, 0),
    );
  };
  const joined = (title: string, path: string) => {
    const read = jsonPath(path);
    return column(title, (object) => read(object).join(','), wide);
  };

  const labels = at('.spec.selector.matchLabels');
  const workload = [
    age,
    joined('Containers', '.spec.template.spec.containers[*].name'),
    joined('Images', '.spec.template.spec.containers[*].image'),
    column(
      'Selector',
      (object) =>
        Object.entries(labels(object) ?? {})
          .map(([key, value]) => `${key}=${value}`)
          .join(','),
      wide,
    ),
  ];

  const ready = count('.status.readyReplicas');
  const desired = count('.spec.replicas');
  const known: Readonly<Record<string, readonly Column[]>> = {
    pods: [
      name,
      column('Ready', (object) => podCells(object).ready),
      column('Status', (object) => podCells(object).status),
      column('Restarts', (object) => podCells(object).restarts),
      age,
      text('IP', '.status.podIP', '<none>', wide),
      text('Node', '.spec.nodeName', '<none>', wide),
      text('Nominated Node', '.status.nominatedNodeName', '<none>', wide),
      column('Readiness Gates', () => '<none>', wide),
    ],
    configmaps: [name, members('Data', '.data', '.binaryData'), age],
    secrets: [name, text('Type', '.type', 'Opaque'), members('Data', '.data'), age],
    namespaces: [name, text('Status', '.status.phase', ''), age],
    'deployments.apps': [
      name,
      column('Ready', (object) => `${ready(object)}/${desired(object)}`),
      column('Up-to-date', count('.status.updatedReplicas')),
      column('Available', count('.status.availableReplicas')),
      ...workload,
    ],
    'replicasets.apps': [
      name,
      integer('Desired', '.spec.replicas'),
      integer('Current', '.status.replicas'),
      integer('Ready', '.status.readyReplicas'),
      ...workload,
    ],
  };
  return { name, age, dated, known };
}

const COLUMNS = /* @__PURE__ */ builtInColumns();

function printed({ name: title, jsonPath: path, ...definition }: PrinterColumn): Column {
  const read = at(path);
  const isDate = definition.type === 'date';
  return column(
    title,
    (object, nowMs) => (isDate ? ageOf(read(object), nowMs) : (read(object) ?? null)),
    { description: '', ...definition },
  );
}

/** Returns the columns of a resource. */
export function columnsOf({ resource, custom, printerColumns }: ServedResource): readonly Column[] {
  const { name, age, dated } = COLUMNS;
  if (printerColumns.length > 0) return [name, ...printerColumns.map(printed)];
  const { group, plural } = resource;
  const known = group === '' ? plural : `${plural}.${group}`;
  if (!custom && Object.hasOwn(COLUMNS.known, known)) return COLUMNS.known[known] ?? [];
  return [name, custom ? dated : age];
}

const MINUTE = 60;
const HOUR = 3_600;
const DAY = 86_400;
const YEAR = 31_536_000;

/** Formats a duration in milliseconds: `12s`, `2m9s`, `3h`, `8d`. Longer durations are shown with less precision. */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  const full = (unit: number) => Math.floor(seconds / unit);
  const both = (unit: number, mark: string, small: number, smallMark: string) => {
    const rest = Math.floor((seconds % unit) / small);
    return rest === 0 ? `${full(unit)}${mark}` : `${full(unit)}${mark}${rest}${smallMark}`;
  };
  if (seconds < 2 * MINUTE) return `${seconds}s`;
  if (seconds < 10 * MINUTE) return both(MINUTE, 'm', 1, 's');
  if (seconds < 3 * HOUR) return `${full(MINUTE)}m`;
  if (seconds < 8 * HOUR) return both(HOUR, 'h', MINUTE, 'm');
  if (seconds < 2 * DAY) return `${full(HOUR)}h`;
  if (seconds < 8 * DAY) return both(DAY, 'd', HOUR, 'h');
  if (seconds < 2 * YEAR) return `${full(DAY)}d`;
  if (seconds < 8 * YEAR) return both(YEAR, 'y', DAY, 'd');
  return `${full(YEAR)}y`;
}

/** The age of an object, by its timestamp, as `kubectl get` formats it. client-go: apimachinery/pkg/util/duration, HumanDuration. */
function ageOf(timestamp: unknown, nowMs: number): string {
  if (typeof timestamp !== 'string') return '<unknown>';
  const then = Date.parse(timestamp);
  return Number.isNaN(then) ? '<invalid>' : humanDuration(nowMs - then);
}
