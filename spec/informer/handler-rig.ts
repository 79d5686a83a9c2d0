/** Test setup for handlers: a log of their notifications, and callbacks that end when the test ends them. */
import type {
  DeletedObject,
  EventHandlerOptions,
  EventNotification,
  ResourceEventHandler,
  SharedInformerOptions,
} from 'rx-informer';
import { addEventHandler } from 'rx-informer';
import { type Pod, pod, scriptedInformer } from '../support/scripted-list-watch.ts';

/** Waits until all settled promises have been processed. */
export const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A handler that logs each callback when it begins: `+web@1* initial`, `~web@1>2 watch`, `-web@2? relist`. */
export function logging(log: string[], answer: () => unknown = () => undefined) {
  const record = (change: string, { cause }: EventNotification) => {
    log.push(`${change} ${cause}`);
    return answer();
  };
  const at = (object: Pod) => `${object.metadata.name}@${object.metadata.resourceVersion}`;
  return {
    onAdd: (object: Pod, notification: EventNotification) =>
      record(`+${at(object)}${notification.isInInitialList ? '*' : ''}`, notification),
    onUpdate: (previous: Pod, object: Pod, notification: EventNotification) =>
      record(
        `~${object.metadata.name}@${previous.metadata.resourceVersion}>${object.metadata.resourceVersion}`,
        notification,
      ),
    onDelete: (deleted: DeletedObject<Pod>, notification: EventNotification) =>
      record(`-${at(deleted.object)}${deleted.finalStateUnknown ? '?' : ''}`, notification),
  } satisfies ResourceEventHandler<Pod>;
}

/** A handler whose callbacks wait for `finish`. */
export function slowly() {
  const log: string[] = [];
  const waiting: { resolve: () => void; reject: (error: unknown) => void }[] = [];
  const handler = logging(
    log,
    () => new Promise<void>((resolve, reject) => waiting.push({ resolve, reject })),
  );
  return {
    log,
    handler,
    get running() {
      return waiting.length;
    },
    /** Ends the callback in progress, and the next ones, `times` callbacks in total. */
    async finish(times = 1, error?: unknown) {
      for (let at = 0; at < times; at++) {
        const call = waiting.shift();
        if (call === undefined) return;
        if (error === undefined) call.resolve();
        else call.reject(error);
        await settle();
      }
    },
  };
}

/** A synced informer with a slow handler that was added before the start. */
export function slowInformer(
  names: readonly string[],
  handlerOptions: EventHandlerOptions<Pod> = {},
  options: SharedInformerOptions<Pod> = {},
) {
  const errors: [string, string | undefined][] = [];
  const { source, informer } = scriptedInformer({
    name: 'pods',
    onUnhandledError: (error, { subscriber, key }) =>
      errors.push([String(error), `${subscriber} ${key}`]),
    ...options,
  });
  const slow = slowly();
  const registration = addEventHandler(informer, slow.handler, handlerOptions);
  source.listed(1, ...names.map((name) => pod(name, 1)));
  informer.start();
  return { source, informer, slow, registration, errors };
}
