/** The actions on Nodes, and the deletion of objects. */
import { shownKinds } from '../../shared/kinds.ts';
import { type Action, fullName, mayPatch, type Named, type Target, Unneeded } from './action.ts';
import { restart, rollBack, runNow, scale } from './workloads.ts';

function cordoning(id: string, label: string, does: string, isCordoned: boolean): Action {
  const says = isCordoned ? 'cordoned' : 'open for new Pods';
  return {
    ...{ id, label, does, on: ['nodes'], right: mayPatch },
    fits: ({ spec }) => Boolean(spec?.unschedulable) !== isCordoned,
    async send({ calls, options }, object) {
      const set = (draft: Target) => {
        draft.spec ??= {};
        if (Boolean(draft.spec.unschedulable) === isCordoned)
          throw new Unneeded(`It is ${says} already.`);
        if (isCordoned) draft.spec.unschedulable = true;
        else delete draft.spec.unschedulable;
      };
      await calls.edit(object, set, options);
      return { says };
    },
  };
}

const deletable = shownKinds.filter(({ editable, stays }) => editable && !stays).map(fullName);

const remove: Action = {
  id: 'delete',
  label: 'Delete',
  does: 'Deletes it with all that it owns. Only a controller brings it back.',
  on: deletable,
  isDanger: true,
  right: ({ group, plural }) => ({ verb: 'delete', group, resource: plural }),
  async send({ calls, options }, object) {
    const { uid, resourceVersion } = object.metadata;
    await calls.delete(object, {
      propagationPolicy: 'Background',
      preconditions: { uid, resourceVersion },
      dryRun: options.dryRun,
      ...(options.signal && { signal: options.signal }),
    });
    return { says: 'is deleted' };
  },
};

export const actions: readonly Action[] = [
  scale,
  restart,
  rollBack,
  runNow,
  cordoning('cordon', 'Cordon', 'No new Pod comes to the Node. Its Pods stay.', true),
  cordoning('uncordon', 'Uncordon', 'New Pods may come to the Node again.', false),
  remove,
];

/** The actions on an object of a resource, or on several ones without a look at them. */
export function actionsFor(resource: Named, object?: Target): readonly Action[] {
  const name = fullName(resource);
  return actions.filter(
    ({ on, isSingle, fits = () => true }) =>
      on.includes(name) && (object === undefined ? !isSingle : fits(object)),
  );
}
