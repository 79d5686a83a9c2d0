/**
 * The test setup of faulty consumers: one informer with two correct subscribers, the witnesses, and a faulty one
 * between them.
 */
import {
  ApiError,
  type SharedInformer,
  type SharedInformerOptions,
  type UnhandledErrorContext,
} from 'rx-informer';
import { brief } from '../store/sets.ts';
import {
  added,
  deleted,
  modified,
  type Pod,
  pod,
  type ScriptedListWatch,
  scriptedInformer,
} from '../support/scripted-list-watch.ts';

/** Waits until all settled promises have been processed. */
export const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export interface Reported extends UnhandledErrorContext {
  readonly error: unknown;
}

export interface Rig {
  readonly source: ScriptedListWatch;
  readonly informer: SharedInformer<Pod>;
  readonly reported: Reported[];
  readonly warnings: string[];
  /** The change sets that the first subscriber and the last subscriber received. */
  readonly witnesses: readonly [string[], string[]];
  /** Plays a list and five batches of changes. */
  story(): Promise<void>;
  stop(): Promise<void>;
}

/** The change sets of {@link Rig.story}, which a witness must receive whatever other subscribers do. */
export const STORY = [
  'snapshot!i',
  'initiali +shop/a@1 +shop/b@1 +shop/c@1',
  'initial*i',
  'watch* ~shop/a@1>2',
  'watch* +shop/d@3',
  'watch* -shop/b@4',
  'watch* ~shop/c@1>5 ~shop/d@3>6',
  'watch* ~shop/a@2>7',
];

/** `culprit` adds the faulty consumer between the two witnesses, before the start. */
export function rig(
  culprit: (informer: SharedInformer<Pod>, source: ScriptedListWatch) => unknown,
  options: SharedInformerOptions<Pod> = {},
): Rig {
  const reported: Reported[] = [];
  const warnings: string[] = [];
  const { source, informer } = scriptedInformer({
    name: 'pods',
    backoff: () => 0,
    onUnhandledError: (error, context) => reported.push({ error, ...context }),
    onWarning: ({ type, subscriber }) => warnings.push(`${type} ${subscriber}`),
    ...options,
  });
  const first: string[] = [];
  const last: string[] = [];
  informer.changes$.subscribe((set) => first.push(brief(set)));
  culprit(informer, source);
  informer.changes$.subscribe((set) => last.push(brief(set)));
  informer.start();
  return {
    source,
    informer,
    reported,
    warnings,
    witnesses: [first, last],
    async story() {
      source.listed(1, pod('a', 1), pod('b', 1), pod('c', 1));
      await settle();
      source.send(modified(pod('a', 2)));
      await settle();
      source.send(added(pod('d', 3)));
      await settle();
      source.send(deleted(pod('b', 4)));
      await settle();
      source.send(modified(pod('c', 5)), modified(pod('d', 6)));
      await settle();
      source.send(modified(pod('a', 7)));
      await settle();
    },
    stop: () => informer.stop(),
  };
}

export const gone = (): ApiError =>
  new ApiError({ code: 410, reason: 'Expired', message: 'too old' });
