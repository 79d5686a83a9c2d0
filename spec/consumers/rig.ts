/** One informer, two witnesses who behave, and between them somebody who does not. */
import {
  ApiError,
  createSharedInformer,
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
  scriptedListWatch,
} from '../support/scripted-list-watch.ts';

/** Lets promises run dry. */
export const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export interface Reported extends UnhandledErrorContext {
  readonly error: unknown;
}

export interface Rig {
  readonly source: ScriptedListWatch;
  readonly informer: SharedInformer<Pod>;
  readonly reported: Reported[];
  readonly warnings: string[];
  /** What the witness who came first, and the one who came last, heard. */
  readonly witnesses: readonly [string[], string[]];
  /** A list, four changes and a relist. */
  story(): Promise<void>;
  stop(): Promise<void>;
}

/** What a witness of {@link Rig.story} hears, whoever else listens. */
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

/** `culprit` is let in between the two witnesses, before the start. */
export function rig(
  culprit: (informer: SharedInformer<Pod>, source: ScriptedListWatch) => unknown,
  options: SharedInformerOptions<Pod> = {},
): Rig {
  const source = scriptedListWatch();
  const reported: Reported[] = [];
  const warnings: string[] = [];
  const informer = createSharedInformer<Pod>(source, {
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
