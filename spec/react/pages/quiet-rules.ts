/** What holds when everything has arrived: each component shows what the objects of its cluster give. */
import { isReading, type Shown, type Slot } from './components.ts';
import type { EditModel } from './edit-model.ts';
import type { Env } from './env.ts';
import {
  answerOf,
  comparisonOf,
  type Facts,
  factsOf,
  lineOf,
  type Question,
  resourceOf,
  shownBy,
} from './questions.ts';

/** A mounted component, and what the model knows of its source. */
export interface Mounted {
  readonly slot: Slot;
  readonly env: Env;
  /** The provider, whose edits are shown. */
  readonly era: number;
  /** Whether no informer of its factory was stopped after the component had begun to ask. */
  readonly isRunning: boolean;
}

/** Whether the model knows what the component shows. */
function isCertain({ env: { cluster }, isRunning }: Mounted): boolean {
  return isRunning && !cluster.isIll && !cluster.isShaken;
}

/** Returns what is wrong with a component. */
export function checkQuiet(mounted: Mounted, edits: EditModel): readonly string[] {
  const { slot, env } = mounted;
  const { kind, question, record } = slot;
  const { shown } = record;
  const where = `${kind} ${JSON.stringify(question)}`;
  const wrong = (text: string) => [`${where}: ${text}`];
  if (shown === undefined) {
    return isCertain(mounted) ? wrong(`is not on the page, ${record.failed}`) : [];
  }
  if (shown.question !== question || shown.env !== slot.env) {
    return isCertain(mounted) ? wrong('shows a former question') : [];
  }
  if (shown.edit !== undefined) return edits.check(shown.edit).flatMap(wrong);
  const result = shown.rows ?? shown.status;
  if (kind === 'status' || result === undefined) return [];
  const { synced, error, status } = result;
  if (question.off) return synced || error !== undefined ? wrong('asks for nothing') : [];
  const { denied, everDenied } = env.cluster;
  if (error !== undefined && refusalOf(env, question, everDenied) === 'none') {
    return wrong(error.message);
  }
  if (mounted.isRunning && error === undefined && refusalOf(env, question, denied) === 'all') {
    return wrong('has no error');
  }
  const isStale = shown.rows?.stale !== false || synced;
  if (!env.cluster.isIll && !env.cluster.isShaken && !synced && !isStale) {
    return wrong(`is neither synced nor stale, ${status.phase}`);
  }
  if (!isCertain(mounted)) return [];
  if (!synced) return wrong(`is not synced, but ${status.phase}`);
  if (status.live !== true) return wrong(`is not live, but ${status.phase}`);
  return shown.rows === undefined ? [] : checkRows(mounted, shown.rows, edits).flatMap(wrong);
}

/** Whether the server refuses requests for the question: all, some informers that could have its objects, or none. */
function refusalOf(
  { cluster }: Env,
  question: Question,
  denied: readonly string[],
): 'all' | 'some' | 'none' {
  const { plural } = resourceOf(question);
  if (cluster.hasFaults) return 'some';
  const own = denied.flatMap((each) => {
    const [resource, namespace] = each.split('/');
    return resource === plural ? [namespace] : [];
  });
  if (own.includes(undefined)) return 'all';
  // A query of one namespace may read an informer of several, and has its error.
  return own.length > 0 ? 'some' : 'none';
}

function checkRows(
  { slot, env, era }: Mounted,
  { rows, total }: NonNullable<Shown['rows']>,
  edits: EditModel,
): readonly string[] {
  const { question, uid, kind } = slot;
  if (edits.isUncertain(era, question.of)) return [];
  const hasDrafts = kind !== 'view' && question.as === undefined;
  const objects = edits.over(env.cluster.objects(question.of), hasDrafts ? era : undefined);
  const isOne = (each: Facts) => uid === undefined || each.uid === uid;
  const answer = answerOf(question, objects.filter(isOne));
  const textOf = (all: readonly Facts[]) => {
    const lines = all.map((each) => `\n  ${lineOf(shownBy(question, each))}`);
    return (comparisonOf(question) === undefined ? lines.sort() : lines).join('');
  };
  const [expected, is] = [textOf(answer.rows), textOf(rows.map(factsOf))];
  if (expected !== is) return [`shows${is}\nin place of${expected}`];
  return total === answer.total ? [] : [`total ${total} in place of ${answer.total}`];
}

/** Returns what is wrong with `useStatus()`, the status of all components that read. */
export function checkMerged(all: readonly Mounted[]): readonly string[] {
  const reading = all.filter(({ slot }) => isReading(slot));
  const results = reading.map(({ slot: { record } }) => record.shown?.rows ?? record.shown?.status);
  if (results.includes(undefined)) return [];
  const errors = results.flatMap((result) => result?.error ?? []);
  return all.flatMap(({ slot }) => {
    const { shown } = slot.record;
    if (slot.kind !== 'status' || shown?.status === undefined || shown.env !== slot.env) return [];
    const { error, synced, status } = shown.status;
    if ((error !== undefined) !== errors.length > 0) {
      return [`useStatus: the error is ${error?.message}, the components have ${errors}`];
    }
    const isSynced = reading.length > 0;
    if (!reading.every(isCertain) || (synced === isSynced && (status.live === true) === isSynced)) {
      return [];
    }
    return [`useStatus: synced ${synced}, live ${status.live}; ${reading.length} components read`];
  });
}
