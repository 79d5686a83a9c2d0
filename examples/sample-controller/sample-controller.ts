/** Connects the parts of the sample controller: informers, recorder, election, controller. */
import {
  byOwnerUid,
  type Controller,
  createController,
  createEventRecorder,
  createInformerFactory,
  createLeaderElector,
  createResourceClient,
  forResource,
  generationChanged,
  type KubeClient,
} from 'rx-informer';
import { deployments } from 'rx-informer/resources';
import { foos } from './foo.ts';
import { reconcileFoos } from './reconcile.ts';

/** The options of the sample controller. */
export interface SampleControllerOptions {
  /** The identity of this process, different from that of every other process. */
  readonly identity: string;
  /** The namespace of the Foos. @defaultValue all namespaces */
  readonly namespace?: string;
  /** The namespace of the Lease. @defaultValue 'default' */
  readonly leaseNamespace?: string;
  /** The number of Foos that are reconciled concurrently. @defaultValue 2 */
  readonly workers?: number;
  readonly leaseDurationMs?: number;
  readonly renewDeadlineMs?: number;
  readonly retryPeriodMs?: number;
  /** Receives a line for each outcome and for each change of the lead. */
  readonly log: (line: string) => void;
}

/** A running sample controller. */
export interface SampleController {
  readonly controller: Controller;
  /** Stops the work, then releases the Lease, then stops the informers. */
  stop(): Promise<void>;
}

/** Starts the sample controller: the informers fill, then it competes for the lead, then it works. */
export function startSampleController(
  client: KubeClient,
  options: SampleControllerOptions,
): SampleController {
  const { identity, namespace, leaseNamespace = 'default', workers = 2, log } = options;
  const { leaseDurationMs = 15_000, renewDeadlineMs = 10_000, retryPeriodMs = 2_000 } = options;
  const factory = createInformerFactory(client, {
    // Reconciling compares no part of an object with an earlier one.
    unchangedParts: 'new',
    ...(namespace === undefined ? {} : { namespace }),
    resources: [forResource(deployments, { indexers: { owner: byOwnerUid } })],
  });
  const wanted = factory.informer(foos);
  const known = factory.informer(deployments);
  const recorder = createEventRecorder(client, {
    component: 'sample-controller',
    instance: identity,
    onDropped: (error) => log(`event dropped: ${error}`),
  });
  const elector = createLeaderElector({
    client,
    namespace: leaseNamespace,
    name: 'sample-controller',
    identity,
    leaseDurationMs,
    renewDeadlineMs,
    retryPeriodMs,
  });
  const controller = createController({
    name: 'sample-controller',
    for: wanted,
    owns: [known],
    // The controller writes the status itself, so a change of the status needs no reconcile.
    predicates: [generationChanged],
    concurrency: workers,
    leaderElection: elector,
    reconcile: reconcileFoos({
      identity,
      foos: createResourceClient(client, foos),
      deployments: createResourceClient(client, deployments),
      wanted,
      known,
      recorder,
    }),
  });
  elector.leading$.subscribe((leads) => log(leads ? 'leading' : 'not leading'));
  controller.outcomes$.subscribe((outcome) => {
    const { key, type, attempt, reasons } = outcome;
    const error = 'error' in outcome ? `: ${outcome.error}` : '';
    log(`${key} ${type} (try ${attempt}, ${reasons.join(', ')})${error}`);
  });
  factory.start();
  controller.start();
  elector.start();
  return {
    controller,
    async stop() {
      await controller.stop();
      await elector.stop();
      await recorder.close();
      await factory.stop();
    },
  };
}
