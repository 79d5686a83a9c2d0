/** Connects the parts of the controller: informers, recorder, election, queue. */
import {
  type Controller,
  createController,
  createEventRecorder,
  createInformerFactory,
  createLeaderElector,
  createResourceClient,
  generationChanged,
  type InformerStatus,
  type KubeClient,
  type KubernetesObject,
  type SharedInformer,
} from 'rx-informer';
import { configMaps } from 'rx-informer/resources';
import { distinctUntilKeyChanged, type Observable, type SchedulerLike } from 'rxjs';
import { reconcileObjects } from './reconcile.ts';
import { widgets } from './widgets.ts';

/** The options of the controller. */
export interface Options {
  /** The identity of this process, different from that of every other process. */
  readonly identity: string;
  /** Receives a line for each outcome, for each change of the lead, and for each failed request of the Lease. */
  readonly log: (line: string) => void;
  /** The clock and the timers, for tests in virtual time. Give the client the same one. Default: real time. */
  readonly scheduler?: SchedulerLike | undefined;
}

/** What to do if the server refuses the lists of an informer. */
const ADVICE: Readonly<Record<string, string>> = {
  'no-such-resource': 'kubectl apply --filename manifests/1-crd.yaml',
  forbidden: 'kubectl apply --filename manifests/, and run it with the account of the manifests',
};

/** Logs why an informer has nothing. The controller waits until the server accepts its lists. */
function logBlocked(status$: Observable<InformerStatus>, log: Options['log']): void {
  status$.pipe(distinctUntilKeyChanged('blocked')).subscribe(({ blocked = '', error }) => {
    const advice = ADVICE[blocked];
    if (blocked) log(`blocked: ${error?.message}${advice ? `. To correct it: ${advice}` : ''}`);
  });
}

/** A running controller. */
export interface Running {
  readonly controller: Controller;
  /** The caches, for the probes. */
  readonly informers: readonly Pick<SharedInformer<KubernetesObject>, 'name' | 'status'>[];
  /** Stops the work, then releases the Lease, then stops the informers. */
  stop(): Promise<void>;
}

/** Starts the controller: its caches fill, then it competes for the lead, then it works. */
export function startController(client: KubeClient, options: Options): Running {
  const { identity, log, scheduler } = options;
  const factory = createInformerFactory(client, { unchangedParts: 'new', scheduler });
  const wanted = factory.informer(widgets);
  const known = factory.informer(configMaps);
  const recorder = createEventRecorder(client, {
    component: 'widget-controller',
    instance: identity,
    scheduler,
    onDropped: (error) => log(`event dropped: ${error}`),
  });
  const compete = () => {
    const elector = createLeaderElector({
      client,
      namespace: 'widget-controller',
      name: 'widget-controller',
      identity,
      scheduler,
      // Without the Lease the controller only stands by, so its log says why.
      onError: ({ message }) => log(`lease: ${message}`),
    });
    elector.leader$.subscribe((leader) => log(`leader: ${leader || 'none'}`));
    return elector;
  };
  const controller = createController({
    name: 'widget-controller',
    for: wanted,
    owns: [known],
    // The controller writes the status itself, so a change of the status needs no reconcile.
    predicates: [generationChanged],
    scheduler,
    leaderElection: compete,
    reconcile: reconcileObjects({
      objects: createResourceClient(client, widgets, { scheduler }),
      configMaps: createResourceClient(client, configMaps, { scheduler }),
      wanted,
      known,
      recorder,
    }),
  });
  for (const { status$ } of [wanted, known]) logBlocked(status$, log);
  controller.status$.subscribe(({ phase }) => log(phase));
  controller.outcomes$.subscribe((outcome) => {
    const { key, type, attempt, reasons } = outcome;
    const error = 'error' in outcome ? `: ${outcome.error}` : '';
    log(`${key} ${type} (try ${attempt}, ${reasons.join(', ')})${error}`);
  });
  factory.start();
  controller.start();
  return {
    controller,
    informers: [wanted, known],
    async stop() {
      await controller.stop();
      await recorder.close();
      await factory.stop();
    },
  };
}
