/** Refuses invalid options of a controller. */
import {
  checkedDuration,
  checkedFunction,
  checkedMetered,
  checkedTimes,
  checkedWholeLimit,
  ifGiven,
} from '../checks/checked-option.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { ControllerOptions } from './controller.ts';

/** Throws a `TypeError` that names the controller and the option. */
export function checkOptions<T extends KubernetesObject>(
  name: string,
  { concurrency, maxRetries, ageingMs, reconcile, metrics }: ControllerOptions<T>,
): void {
  ifGiven(checkedWholeLimit, concurrency, `${name}: concurrency`);
  ifGiven(checkedTimes, maxRetries, `${name}: maxRetries`);
  ifGiven(checkedDuration, ageingMs, `${name}: ageingMs`);
  checkedFunction(reconcile, `${name}: reconcile`);
  checkedMetered(metrics, `${name}: metrics`);
}
