/** The types of the callbacks of a handler and of the options of a controller, checked by `tsc`. */
import {
  and,
  createController,
  type DeletedObject,
  type EventNotification,
  filteringEventHandler,
  generationChanged,
  type KubernetesObject,
  labelsChanged,
  or,
  type Predicate,
  type ResourceEventHandler,
  resynced,
  type SharedInformer,
  type Stored,
} from 'rx-informer';
import type { Deployment, Pod, Secret } from 'rx-informer/resources';
import { describe, expectTypeOf, it, test } from 'vitest';

declare const pods: SharedInformer<Pod>;
declare const deployments: SharedInformer<Deployment>;
declare const secrets: SharedInformer<Secret>;
/** Only type-checked, never called. */
const _never = () =>
  createController({
    for: { informer: deployments, predicates: [generationChanged] },
    owns: [
      pods,
      { informer: pods, predicates: [or(generationChanged, labelsChanged('app'))] },
      {
        informer: secrets,
        predicates: [
          ({ object }) => {
            expectTypeOf(object).toEqualTypeOf<Stored<Secret> | undefined>();
            return true;
          },
        ],
      },
    ],
    predicates: [
      ({ object }) => {
        expectTypeOf(object).toEqualTypeOf<Stored<Deployment> | undefined>();
        return true;
      },
      and(generationChanged, resynced),
    ],
    watches: [
      {
        informer: secrets,
        map: ({ previous, object }) => {
          expectTypeOf(previous).toEqualTypeOf<Stored<Secret> | undefined>();
          return [object?.type ?? ''];
        },
      },
      {
        informer: pods,
        map: ({ object }) => {
          expectTypeOf(object).toEqualTypeOf<Stored<Pod> | undefined>();
          return [object?.spec?.nodeName ?? ''];
        },
      },
    ],
    reconcile: (key, { object, name }) => {
      expectTypeOf(key).toEqualTypeOf<string>();
      expectTypeOf(object).toEqualTypeOf<Stored<Deployment> | undefined>();
      expectTypeOf(name.namespace).toEqualTypeOf<string>();
      return { requeueAfterMs: 1 };
    },
  });

test('each source and the reconcile know their objects', () => {
  expectTypeOf(_never).returns.toHaveProperty('outcomes$');
  expectTypeOf<Predicate<KubernetesObject>>().toExtend<Predicate<Pod>>();
});

type Callbacks = {
  [Name in keyof ResourceEventHandler<Pod>]-?: NonNullable<ResourceEventHandler<Pod>[Name]>;
};

describe('the types of handlers', () => {
  it('I21: the last argument of a callback is the notification, which has isInInitialList', () => {
    expectTypeOf<Parameters<Callbacks['onAdd']>[1]>().toEqualTypeOf<EventNotification>();
    expectTypeOf<Parameters<Callbacks['onAdd']>['length']>().toEqualTypeOf<2>();
    expectTypeOf<Parameters<Callbacks['onUpdate']>[2]>().toEqualTypeOf<EventNotification>();
    expectTypeOf<Parameters<Callbacks['onDelete']>>().toExtend<
      [DeletedObject<Pod>, EventNotification]
    >();
    expectTypeOf<EventNotification['isInInitialList']>().toEqualTypeOf<boolean>();
    // @ts-expect-error: the second argument is not a boolean
    const old: ResourceEventHandler<Pod> = { onAdd: (_pod, initial: boolean) => initial };
    filteringEventHandler<Pod>({
      filter: () => true,
      handler: {
        onAdd: (_pod, { isInInitialList }) => expectTypeOf(isInInitialList).toBeBoolean(),
      },
    });
    expectTypeOf(old).toExtend<object>();
  });
});
