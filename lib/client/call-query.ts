/** Converts the options of calls to query parameters and to the bodies of deletes. */
import { checkedBoolean, checkedSentCount, ifGiven } from '../checks/checked-option.ts';
import type { WriteOptions } from './call-options.ts';
import type {
  DeleteOptions,
  ListCallOptions,
  PodLogOptions,
  SelectionOptions,
} from './resource-client.ts';

/** Query parameters, by name. */
export type CallQuery = Readonly<Record<string, string>>;

/** Leaves out unset values: undefined, an empty selector, a switch that is false. */
function query(values: Readonly<Record<string, string | number | boolean | undefined>>): CallQuery {
  const set: Record<string, string> = {};
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && value !== '' && value !== false) set[name] = String(value);
  }
  return set;
}

export function selectionQuery({ labelSelector, fieldSelector }: SelectionOptions): CallQuery {
  return query({ labelSelector, fieldSelector });
}

export function listQuery(options: ListCallOptions): CallQuery {
  const { limit, resourceVersion, resourceVersionMatch } = options;
  ifGiven(checkedSentCount, limit, 'list: limit', 0);
  const page = { limit, continue: options.continue, resourceVersion, resourceVersionMatch };
  return { ...selectionQuery(options), ...query(page) };
}

/** A dry run as `kubectl` writes it ('All') would otherwise be a write. */
function checkDryRun(dryRun: boolean | undefined): void {
  ifGiven(checkedBoolean, dryRun, 'dryRun');
}

export function writeQuery({ dryRun, fieldManager, fieldValidation }: WriteOptions): CallQuery {
  checkDryRun(dryRun);
  return query({ dryRun: dryRun === true ? 'All' : undefined, fieldManager, fieldValidation });
}

export function logQuery(options: PodLogOptions): CallQuery {
  const { container, follow, previous, timestamps } = options;
  const { tailLines, sinceSeconds, sinceTime, limitBytes } = options;
  ifGiven(checkedSentCount, tailLines, 'log: tailLines', 0);
  ifGiven(checkedSentCount, sinceSeconds, 'log: sinceSeconds', 1);
  ifGiven(checkedSentCount, limitBytes, 'log: limitBytes', 1);
  const part = { tailLines, sinceSeconds, sinceTime, limitBytes };
  return query({ container, follow, previous, timestamps, ...part });
}

/** The body of a DELETE, or `undefined` if no option is set. */
export function deleteBody(options: DeleteOptions): object | undefined {
  const { propagationPolicy, gracePeriodSeconds, preconditions, dryRun } = options;
  // JSON would send NaN and Infinity as null, which means the object's own grace period.
  checkDryRun(dryRun);
  ifGiven(checkedSentCount, gracePeriodSeconds, 'delete: gracePeriodSeconds', 0);
  const body = {
    ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(preconditions === undefined ? {} : { preconditions }),
    ...(dryRun === true ? { dryRun: ['All'] } : {}),
  };
  if (Object.keys(body).length === 0) return undefined;
  return { apiVersion: 'v1', kind: 'DeleteOptions', ...body };
}
