/** Horizontal autoscalers: what they scale, by what, and why they do not. */
import { type HorizontalPodAutoscaler, horizontalPodAutoscalers } from 'rx-informer/resources';
import { conditionOf } from '../../shared/conditions.ts';
import { column, columnsWith, defineKind, rowOf, type State } from './kind.ts';

function stateOf(object: HorizontalPodAutoscaler): State {
  const blind = conditionOf(object, 'ScalingActive', 'False');
  if (blind?.reason === 'ScalingDisabled') return { status: 'Disabled', tone: 'done' };
  if (blind) return { status: 'Not measured', tone: 'bad', why: blind.message ?? '' };
  const stuck = conditionOf(object, 'AbleToScale', 'False');
  if (stuck) return { status: 'Cannot scale', tone: 'bad', why: stuck.message ?? '' };
  if (conditionOf(object, 'ScalingLimited')?.reason === 'TooManyReplicas') {
    const why = `it would run more than ${object.spec?.maxReplicas} Pods`;
    return { status: 'At its limit', tone: 'busy', why };
  }
  return { status: 'Active', tone: 'good' };
}

interface Amount {
  readonly averageUtilization?: number;
  readonly averageValue?: string | number;
  readonly value?: string | number;
}

/** A metric of any type, as the specification and the status have it. */
interface Metric {
  readonly name?: string;
  readonly metric?: { readonly name: string };
  readonly target?: Amount;
  readonly current?: Amount;
}

/** The member of a metric that is called like its type. */
function partOf(metric: { readonly type?: string } = {}): Metric {
  const { type = '' } = metric;
  const member = `${type.slice(0, 1).toLowerCase()}${type.slice(1)}`;
  return (metric as Readonly<Record<string, Metric>>)[member] ?? {};
}

function amountOf({ averageUtilization, averageValue, value }: Amount, isShare: boolean): string {
  if (isShare) return averageUtilization === undefined ? 'unknown' : `${averageUtilization} %`;
  return String(averageValue ?? value ?? 'unknown');
}

/** What is measured, and what it should be: `cpu 54 % of 70 %`. */
export function targetsOf({ spec, status }: HorizontalPodAutoscaler): string {
  const texts = (spec?.metrics ?? []).map((metric, at) => {
    const { name, metric: named, target = {} } = partOf(metric);
    const { current = {} } = partOf(status?.currentMetrics?.[at]);
    const isShare = target.averageUtilization !== undefined;
    const amounts = [current, target].map((amount) => amountOf(amount, isShare));
    return `${name ?? named?.name} ${amounts.join(' of ')}`;
  });
  return texts.join(', ');
}

export const autoscalerKind = defineKind({
  id: 'autoscalers',
  title: 'Autoscalers',
  resource: horizontalPodAutoscalers,
  tones: { good: 'Active', busy: 'At the limit', bad: 'In trouble', done: 'Disabled' },
  columns: columnsWith(
    column.status,
    { id: 'target', title: 'Scales', type: 'owner', width: 130, grow: 1 },
    { id: 'metrics', title: 'Measured', type: 'text', width: 180, grow: 1 },
    { id: 'replicas', title: 'Pods', type: 'text', width: 96 },
    column.why,
  ),
  row: (object) => {
    const { scaleTargetRef: of, minReplicas = 1, maxReplicas } = object.spec ?? {};
    const target = `${of?.kind}/${of?.name}`;
    const replicas = `${object.status?.currentReplicas ?? 0} of ${minReplicas}–${maxReplicas}`;
    const fields = { target, metrics: targetsOf(object), replicas };
    return rowOf(object, stateOf(object), fields, target);
  },
});
