/**
 * Computes what a pod requests of its node, as the scheduler and `kubectl describe node` do. client-go:
 * component-helpers/resource/helpers.go (PodRequests, AggregateContainerRequests).
 */
import { type ParsedQuantity, parseQuantity, quantityOfNanos } from './quantity.ts';

type Texts = Readonly<Record<string, string | number>> | undefined;

interface Requests {
  readonly requests?: Texts;
}

interface RequestingContainer {
  readonly name?: string | undefined;
  readonly restartPolicy?: string | undefined;
  readonly resources?: Requests | undefined;
}

interface ContainerState {
  readonly name?: string | undefined;
  readonly resources?: Requests | undefined;
  readonly allocatedResources?: Texts;
}

/** The fields of a pod that {@link podRequests} reads. */
export interface RequestingPod {
  readonly spec?:
    | {
        readonly containers?: readonly RequestingContainer[] | undefined;
        readonly initContainers?: readonly RequestingContainer[] | undefined;
        readonly overhead?: Texts;
        readonly resources?: Requests | undefined;
      }
    | undefined;
  readonly status?:
    | {
        readonly containerStatuses?: readonly ContainerState[] | undefined;
        readonly initContainerStatuses?: readonly ContainerState[] | undefined;
        readonly conditions?:
          | readonly { readonly type?: string; readonly reason?: string | undefined }[]
          | undefined;
      }
    | undefined;
}

/** The amounts of resources by name. `cpu` and `memory` are 0 if nothing is requested. */
export interface ResourceAmounts {
  readonly cpu: ParsedQuantity;
  readonly memory: ParsedQuantity;
  readonly [resource: string]: ParsedQuantity;
}

/** The options of {@link podRequests}. */
export interface PodRequestsOptions {
  /**
   * Whether a container that is being resized counts with the larger one of its old and new requests, as for the
   * scheduler.
   * @defaultValue true
   */
  readonly useStatus?: boolean | undefined;
}

/** Amounts in units of 1e-9 by name. */
type Amounts = Map<string, bigint>;

/** The requests of a container. Only containers and sidecars can be resized. */
type RequestsOf = (container: RequestingContainer, canResize: boolean) => Amounts;

/**
 * The resources that a pod requests: the sum over its containers and sidecars (init containers that restart always), or
 * what an init container needs together with the sidecars before it if that is more, for each resource. Requests of
 * the pod itself replace those of its containers for `cpu`, `memory` and huge pages. The pod's overhead is added.
 *
 * Throws a `TypeError` if a quantity is invalid.
 *
 * @example
 * ```ts
 * import { podRequests } from 'rx-informer';
 *
 * const container = { name: 'web', resources: { requests: { cpu: '250m', memory: '64Mi' } } };
 * const { cpu, memory } = podRequests({ spec: { containers: [container, container] } });
 * [cpu.milli, memory.value]; // => [500, 134217728]
 * ```
 */
export function podRequests(pod: RequestingPod, options: PodRequestsOptions = {}): ResourceAmounts {
  const { spec = {} } = pod;
  const requestsOf = requestReader(pod, options.useStatus ?? true);
  const total: Amounts = new Map();
  for (const container of spec.containers ?? []) add(total, requestsOf(container, true));
  raise(total, initRequests(spec.initContainers ?? [], total, requestsOf));
  for (const [name, amount] of amountsOf(spec.resources?.requests)) {
    if (isPodLevel(name)) total.set(name, amount);
  }
  add(total, amountsOf(spec.overhead));
  const amounts: [string, ParsedQuantity][] = [...total].map(([name, nanos]) => [
    name,
    quantityOfNanos(nanos),
  ]);
  const none = { cpu: quantityOfNanos(0n), memory: quantityOfNanos(0n) };
  return { ...none, ...Object.fromEntries(amounts) };
}

/** Adds the sidecars to the total, and returns the most that is needed while an init container runs. */
function initRequests(
  containers: readonly RequestingContainer[],
  total: Amounts,
  requestsOf: RequestsOf,
): Amounts {
  const sidecars: Amounts = new Map();
  const most: Amounts = new Map();
  for (const container of containers) {
    const isSidecar = container.restartPolicy === 'Always';
    const requests = requestsOf(container, isSidecar);
    if (isSidecar) {
      add(total, requests);
      add(sidecars, requests);
      raise(most, sidecars);
      continue;
    }
    const running = new Map(requests);
    add(running, sidecars);
    raise(most, running);
  }
  return most;
}

/** Returns a function from a container to its requests, which are larger while it is resized. */
function requestReader({ status = {} }: RequestingPod, useStatus: boolean): RequestsOf {
  const states = new Map<string | undefined, ContainerState>();
  if (useStatus) {
    const { containerStatuses = [], initContainerStatuses = [] } = status;
    for (const state of [...containerStatuses, ...initContainerStatuses]) {
      states.set(state.name, state);
    }
  }
  const resize = status.conditions?.find(({ type }) => type === 'PodResizePending');
  const isInfeasible = resize?.reason === 'Infeasible';
  return ({ name, resources }, canResize) => {
    const wanted = amountsOf(resources?.requests);
    const state = canResize ? states.get(name) : undefined;
    if (state?.resources === undefined) return wanted;
    // A resize that no node can carry out does not count.
    const effective: Amounts = isInfeasible ? new Map() : wanted;
    raise(effective, amountsOf(state.resources.requests));
    raise(effective, amountsOf(state.allocatedResources));
    return effective;
  };
}

function isPodLevel(name: string): boolean {
  return name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');
}

function amountsOf(texts: Texts): Amounts {
  const amounts: Amounts = new Map();
  for (const [name, text] of Object.entries(texts ?? {})) {
    amounts.set(name, parseQuantity(text).nanos);
  }
  return amounts;
}

function add(to: Amounts, more: Amounts): void {
  for (const [name, amount] of more) to.set(name, (to.get(name) ?? 0n) + amount);
}

/** Sets each amount to the larger one of both. */
function raise(to: Amounts, other: Amounts): void {
  for (const [name, amount] of other) {
    const before = to.get(name);
    if (before === undefined || amount > before) to.set(name, amount);
  }
}
