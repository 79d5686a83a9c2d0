/** The consumers of an informer. Each has its own story for the judge. */
import {
  addEventHandler,
  type ChangeSet,
  type DeliveryPolicy,
  deliver,
  type SharedInformer,
  toView,
  type UpdatedObject,
  type View,
} from 'rx-informer';
import { type SchedulerLike, Subscription, timer } from 'rxjs';
import { skip, take } from 'rxjs/operators';
import type { Pod } from './history.ts';
import { compare, type Selects, type Shards, Story, type Thing, type Truth } from './judge.ts';

export interface ConsumerOptions {
  readonly informer: SharedInformer<Pod>;
  readonly truth: Truth;
  readonly selects: Selects;
  /** The shards that the informer holds; absent if it holds all objects. */
  readonly shards?: Shards | undefined;
  readonly scheduler: SchedulerLike;
  readonly random: () => number;
  /** The factor by which the slow consumer is faster. */
  readonly speed: number;
  readonly wrong: string[];
}

export interface Consumers {
  /** Subscribes all consumers: at first, and again after a stop has completed their streams. */
  subscribe(): void;
  /** Adds a consumer that leaves after this time, in milliseconds. */
  visit(forMs: number): void;
  /** Unsubscribes all consumers. */
  leave(): void;
  /** Notes that the informer was stopped: no consumer may be notified until it starts again. */
  rest(): void;
  finish(when: string): void;
  readonly notified: number;
}

function policyOf({ random, scheduler, speed }: ConsumerOptions): DeliveryPolicy<Pod> {
  const ready = () => timer(1 + Math.floor((random() * 4_000) / speed), scheduler);
  const limit = 1 + Math.floor(random() * 5);
  const which = Math.floor(random() * 5);
  if (which === 0 || which === 2) return { kind: 'drop', limit, ready };
  if (which === 1) return { kind: 'buffer', limit, overflow: 'conflate', ready };
  return { kind: 'conflate', ready };
}

export function createConsumers(options: ConsumerOptions): Consumers {
  const { informer, truth, selects, shards, scheduler, random, wrong } = options;
  const stories: Story[] = [];
  const story = (name: string) => {
    const made = new Story(name, truth, selects, wrong, shards);
    stories.push(made);
    return made;
  };
  const fold = (to: Story, prompt: boolean) => (set: ChangeSet<Pod>) => {
    if (set.reset) to.reset();
    const keys = new Set<string>();
    for (const { id, key, previous, object, last, left } of set.changes) {
      if (object === undefined) {
        if (previous === undefined) to.fail(`deleted ${key}, which it never had`);
        else if (left) to.move(id, previous, last ?? previous);
        else to.delete(id, previous, last ?? previous);
        continue;
      }
      if (previous === undefined) to.add(object);
      else to.update(previous, object);
      if (object.metadata.uid !== id) to.fail(`${key}: id ${id} is not its UID`);
      if (keys.has(key)) to.fail(`${key}: twice in rev ${set.rev}`);
      keys.add(key);
      // During a callback the store shows this commit.
      if (prompt && informer.indexer.getByKey(key) !== object) to.fail(`${key}: not in the store`);
    }
    const names = new Set([...to.has.values()].map((pod) => informer.indexer.keyOf(pod as Pod)));
    if (names.size !== to.has.size) to.fail(`two objects with one name at rev ${set.rev}`);
  };
  const error = (to: Story) => (thrown: unknown) => to.fail(`the stream errored: ${thrown}`);

  const changes = story('changes$');
  // These streams do not say what has left.
  const parts = shards === undefined ? story('added$, updated$, deleted$') : undefined;
  const slow = story('slow');
  const handled = story('handler');
  const all = [changes, slow, ...(parts === undefined ? [] : [parts])];
  const listenToParts = (to: Story) => {
    to.reset();
    const parts = informer.added$.subscribe({
      next: (object) => to.add(object),
      error: error(to),
    });
    parts.add(
      informer.updated$.subscribe(({ previous, object }: UpdatedObject<Pod>) =>
        to.update(previous, object),
      ),
    );
    parts.add(
      informer.deleted$.subscribe(({ uid, previous, object }) => to.delete(uid, previous, object)),
    );
    return parts;
  };
  const policy = policyOf(options);
  const delivery = deliver(informer, policy);
  const register = (to: Story, resyncPeriodMs = 0) =>
    addEventHandler(
      informer,
      {
        onAdd: (object) => to.add(object),
        onUpdate: (previous, object) => to.update(previous, object),
        onDelete: ({ uid, previous, object }) => to.delete(uid, previous, object),
        onLeave: ({ uid, previous, object }) => to.move(uid, previous, object),
      },
      { resyncPeriodMs },
    );
  const registration = register(
    handled,
    random() < 0.3 ? Math.max(1_000, 20_000 / options.speed) : 0,
  );
  let view: View<Pod> = toView<Pod>()(informer.changes$);
  let held = new Subscription();
  let leaveView = () => {};

  let resting = true;
  const visit = (forMs: number) => {
    // Half of the visitors subscribe in the middle of a commit: the store shows it, but no subscriber has been
    // notified yet.
    if (random() < 0.5) return enter(forMs);
    informer.indexer.snapshot$.pipe(skip(1), take(1)).subscribe(() => enter(forMs));
  };
  const enter = (forMs: number) => {
    // A subscription would start the informer, so there is no visit to an informer that is stopped or stops with this
    // snapshot.
    if (resting || informer.isStopped) return;
    const number = stories.length;
    if (random() < 0.5) {
      const visitor = story(`visiting handler ${number}`);
      const visiting = register(visitor);
      scheduler.schedule(() => {
        visiting.remove();
        visitor.leave();
      }, forMs);
      return;
    }
    const visitor = story(`visiting changes$ ${number}`);
    const visiting = informer.changes$.subscribe({
      next: fold(visitor, true),
      complete: () => visitor.leave(),
    });
    scheduler.schedule(() => {
      visiting.unsubscribe();
      visitor.leave();
    }, forMs);
  };

  return {
    subscribe() {
      resting = false;
      held = new Subscription();
      for (const each of all) each.join();
      handled.join();
      held.add(informer.changes$.subscribe({ next: fold(changes, true), error: error(changes) }));
      if (parts !== undefined) held.add(listenToParts(parts));
      held.add(delivery.changes$.subscribe({ next: fold(slow, false), error: error(slow) }));
      view = toView<Pod>()(informer.changes$);
      leaveView = view.subscribe(() => {
        const uids = new Set(view.getSnapshot().rows.map(({ metadata }) => metadata.uid));
        if (uids.size !== view.getSnapshot().rows.length) wrong.push('view: a row occurs twice');
      });
    },
    visit,
    rest() {
      resting = true;
      // The slow consumer may still have waiting changes, which the stop does not wait for.
      held.unsubscribe();
      leaveView();
      for (const each of [...all, handled]) each.leave();
    },
    leave() {
      held.unsubscribe();
      leaveView();
      registration.remove();
      for (const each of stories) each.leave();
    },
    finish(when) {
      for (const each of stories) if (!each.left) each.finish(when);
      const held = (thing: Thing) => selects(thing) && shards?.holds(thing) !== false;
      compare(`view, ${when}`, view.getSnapshot().rows, truth, held, wrong);
    },
    get notified() {
      return stories.reduce((sum, { notified }) => sum + notified, 0);
    },
  };
}
