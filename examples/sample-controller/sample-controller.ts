/** Puts the parts together: informers, recorder, election, controller. */
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

/** What the sample controller is told. */
export interface SampleControllerOptions {
  /** Unlike that of every other process. */
  readonly identity: string;
  /** Where the Foos are. @defaultValue everywhere */
  readonly namespace?: string;
  /** Where the Lease is. @defaultValue 'default' */
  readonly leaseNamespace?: string;
  /** @defaultValue 2 */
  readonly workers?: number;
  readonly leaseDurationMs?: number;
  readonly renewDeadlineMs?: number;
  readonly retryPeriodMs?: number;
  /** Told what happens, line by line. */
  readonly log: (line: string) => void;
}

/** A sample controller at work. */
export interface SampleController {
  readonly controller: Controller;
  /** Work first, then the lease, then the informers. */
  stop(): Promise<void>;
}

/** Starts it: informers fill, then it competes, then it works. */
export function startSampleController(
  client: KubeClient,
  options: SampleControllerOptions,
): SampleController {
  const { identity, namespace, leaseNamespace = 'default', workers = 2, log } = options;
  const { leaseDurationMs = 15_000, renewDeadlineMs = 10_000, retryPeriodMs = 2_000 } = options;
  const factory = createInformerFactory(client, {
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
    // The status is written by this controller itself: that is no reason to begin again.
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
