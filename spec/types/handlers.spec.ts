/** The types of the callbacks of a handler, checked by `tsc`. */
import {
  type DeletedObject,
  type EventNotification,
  filteringEventHandler,
  type ResourceEventHandler,
} from 'rx-informer';
import type { Pod } from 'rx-informer/resources';
import { describe, expectTypeOf, it } from 'vitest';

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
