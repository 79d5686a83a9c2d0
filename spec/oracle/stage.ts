/** A scripted server on a real socket, which plays a scenario. Two servers of one seed play the same scenario. */
import { defineResource, type KubernetesObject } from 'rx-informer';
import {
  createFakeApiServer,
  type FakeApiServer,
  type RequestRecord,
  type Served,
} from 'rx-informer/testing';
import { asyncScheduler, type SchedulerLike } from 'rxjs';
import { eventually } from '../support/patience.ts';
import { diceOf } from './dice.ts';
import { type HistoryEntry, type Item, sees } from './history.ts';
import { MARKER, MARKER_LABEL, type Scenario, type Trouble, type Write } from './scenario.ts';

export const configMaps = defineResource<Item>({
  group: '',
  version: 'v1',
  plural: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
});

/** How long a lasting fault lasts, in round trips. */
const TROUBLE_TRIPS = 30;
const FINALIZER = 'example.com/hold';

/** Whether a request begins a LIST, in any form. */
function isFirstOfList({ use, query }: RequestRecord): boolean {
  if (use === 'watch') return query['sendInitialEvents'] === 'true';
  return use === 'list' && query['continue'] === undefined;
}

function isPlainWatch(request: RequestRecord): boolean {
  return request.use === 'watch' && !isFirstOfList(request);
}

function isList({ use, query }: RequestRecord): boolean {
  return use === 'list' || query['sendInitialEvents'] === 'true';
}

/** One server of a scenario. */
export class Stage {
  readonly scenario: Scenario;
  readonly history: HistoryEntry[] = [];
  readonly #server: FakeApiServer;
  /** What happens after so many round trips. */
  readonly #planned = new Set<{ trips: number; readonly act: () => void }>();
  /** The clock, which only the steps of the script advance, so that two servers write the same timestamps. */
  #nowMs = Date.UTC(2026, 0, 1);
  #served: Served | undefined;
  /** The number of requests before the last event that was lost. */
  #lostAfter: number | undefined;

  constructor(scenario: Scenario) {
    this.scenario = scenario;
    const scheduler: SchedulerLike = {
      now: () => this.#nowMs,
      schedule: asyncScheduler.schedule.bind(asyncScheduler),
    };
    this.#server = createFakeApiServer({
      resources: [configMaps],
      random: diceOf(scenario.seed, 1).random,
      scheduler,
      watchList: scenario.watchList,
      bookmarkIntervalMs: scenario.bookmarkIntervalMs,
      initialResourceVersion: scenario.initialResourceVersion,
      ...(scenario.pageSizeMax === undefined ? {} : { pageSizeMax: scenario.pageSizeMax }),
    });
    for (const write of scenario.before) this.write(write);
  }

  /** Listens, and resolves to the URL. */
  async open(): Promise<string> {
    this.#served = await this.#server.serve();
    return this.#served.url;
  }

  async close(): Promise<void> {
    await this.#served?.close();
  }

  /** The objects that a watcher of the scenario should have. */
  truth(): readonly Item[] {
    return this.#server.objects.list(configMaps).filter((object) => sees(this.scenario, object));
  }

  write({ kind, namespace, name, content, label, silent }: Write): void {
    this.#nowMs += 1_000;
    const { objects } = this.#server;
    const ref = { namespace, name };
    const options = { silent };
    if (silent) this.#lostAfter = this.#server.requests.length;
    const create = () =>
      this.#record(ref, () => {
        const metadata = { namespace, name, labels: { app: label } };
        objects.create(configMaps, { metadata, data: { content } }, options);
      });
    const modify = (change: (draft: Draft) => void) =>
      this.#record(ref, () => {
        objects.modify(configMaps, ref, (draft) => change(draft as Draft), options);
      });
    const remove = () => this.#record(ref, () => objects.delete(configMaps, ref, options));

    const current = objects.get(configMaps, ref);
    if (current === undefined) {
      if (kind !== 'delete') create();
    } else if (kind === 'put') {
      modify((draft) => {
        draft.data = { content };
      });
    } else if (kind === 'relabel') {
      modify((draft) => {
        draft.metadata.labels = { app: label };
      });
    } else if (kind === 'mark') {
      const held = current.metadata.finalizers?.length;
      modify((draft) => {
        draft.metadata.finalizers = held ? [] : [FINALIZER];
      });
      if (!held) remove();
    } else {
      remove();
      if (kind === 'recreate' && objects.get(configMaps, ref) === undefined) create();
    }
  }

  #record(ref: { namespace: string; name: string }, act: () => void): void {
    const { objects } = this.#server;
    const key = `${ref.namespace}/${ref.name}`;
    const before = objects.get(configMaps, ref);
    act();
    const object = objects.get(configMaps, ref);
    if (object === before) return;
    if (object !== undefined) {
      const { uid, resourceVersion: version } = object.metadata;
      this.history.push({ key, version, uid, object });
    } else if (before !== undefined) {
      const { uid } = before.metadata;
      this.history.push({ key, version: objects.resourceVersion, uid });
    }
  }

  /**
   * Makes one more write, which shows how far a consumer is. A store that shows this write has all earlier ones. A
   * handler that then receives a second such write has received all writes before the first.
   */
  mark(content: string): string {
    const write = { namespace: 'a', name: MARKER, content, label: MARKER_LABEL };
    this.write({ kind: 'put', silent: false, ...write });
    return this.#server.objects.resourceVersion;
  }

  /** Waits until the informer has begun a list since the last lost event. */
  async makeUpForLosses(): Promise<void> {
    const since = this.#lostAfter;
    if (since === undefined) return;
    const hasListed = () => this.#server.requests.slice(since).some(isFirstOfList);
    await eventually(() => {
      if (hasListed()) return true;
      this.#server.faults.expireWatches();
      return false;
    }, 'the informer lists again');
  }

  heal(): void {
    this.#planned.clear();
    this.#server.faults.healAll();
  }

  /** Waits for round trips to the server, or until an informer watches it. */
  async wait(until: number | 'watched'): Promise<void> {
    if (until !== 'watched') {
      for (let trip = 0; trip < until; trip++) await this.#trip();
      return;
    }
    await eventually(async () => {
      await this.#trip();
      return this.#server.openWatches.length > 0;
    }, 'the informer watches');
  }

  /** A round trip, within which what is on its way gets further. */
  async #trip(): Promise<void> {
    await (await fetch(`${this.#served?.url}/version`)).arrayBuffer();
    for (const planned of this.#planned) {
      if (--planned.trips > 0) continue;
      this.#planned.delete(planned);
      planned.act();
    }
  }

  /** Ends a lasting fault after a while. */
  #forAWhile(fault: { heal(): void }): void {
    this.#planned.add({ trips: TROUBLE_TRIPS, act: () => fault.heal() });
  }

  trouble(trouble: Trouble): void {
    const { faults, objects } = this.#server;
    switch (trouble) {
      case 'close':
        faults.closeWatches();
        break;
      case 'drop':
        faults.dropWatches();
        break;
      case 'close-storm':
        for (let count = 1; count <= 10; count++) {
          this.#planned.add({ trips: count * 3, act: () => faults.closeWatches() });
        }
        break;
      case 'expire':
        faults.expireWatches();
        break;
      case 'compact':
        objects.advance();
        objects.compact();
        faults.dropWatches();
        break;
      case 'error-410':
        faults.emitError({ code: 410, reason: 'Gone', message: 'gone' });
        break;
      case 'error-429':
        faults.emitError({ code: 429, reason: 'TooManyRequests', message: 'busy' });
        break;
      case 'error-500':
        faults.emitError({ code: 500, reason: 'InternalError', message: 'broken' });
        break;
      case 'garbage':
        faults.sendRaw('{"type":"ADDED","object":{nonsense\n');
        break;
      case 'cut-line':
        faults.sendRaw('{"type":"MODIFIED","object":{"apiV');
        faults.closeWatches();
        break;
      case 'refuse-watch':
        this.#forAWhile(faults.refuse({ use: 'watch' }));
        faults.dropWatches();
        break;
      case 'busy-watch':
        faults.failNext(isPlainWatch, { status: 429, times: 2 });
        faults.closeWatches();
        break;
      case 'fail-list':
        faults.failNext(isList, { status: 503 });
        faults.expireWatches();
        break;
      case 'busy-list':
        faults.failNext(isList, { status: 429, retryAfterSeconds: 1 });
        faults.expireWatches();
        break;
      case 'cut-list':
        faults.truncateNext(isList);
        faults.expireWatches();
        break;
      case 'cut-watch':
        faults.truncateNext(isPlainWatch, { keepBytes: 100 });
        faults.closeWatches();
        break;
      case 'no-bookmarks':
        this.#forAWhile(faults.withoutBookmarks(isPlainWatch));
        break;
      case 'slow':
        this.#forAWhile(faults.delay(80));
        break;
      case 'heal':
        faults.healAll();
        break;
    }
  }
}

/** The draft in which an object is changed. */
interface Draft extends KubernetesObject {
  metadata: { labels?: Record<string, string>; finalizers?: string[] };
  data?: Record<string, string>;
}
