/** `audit`, the part of an informer that compares its store with the server. */
import { Auditor } from '../audit/audit.ts';
import type { MetadataLister } from '../audit/pages.ts';
import { type AuditStatus, mergeAudits, unaudited } from '../audit/status.ts';
import { checkedPeriod } from '../checks/checked-option.ts';
import type { ListerWatcher } from '../list-watch/lister-watcher.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Delta } from '../reflector/delta.ts';
import type { ReflectorStatus } from '../reflector/status.ts';
import type { InformerPart, InformerPartMaker, InformerPort } from './part.ts';

const LEAST_PERIOD_MS = 60_000;

/** The options of {@link audit}. */
export interface AuditOptions {
  /**
   * Every lost event is detected and repaired within this time, in milliseconds, after the watch has shown a later
   * version. At least 60000. `Infinity` turns the audit off.
   */
  readonly periodMs: number;
}

/** The audits of one run, one per ListerWatcher, and their merged status. */
class Audits<T extends KubernetesObject> implements InformerPart<T> {
  readonly #port: InformerPort<T>;
  readonly #periodMs: number;
  #auditors: readonly Auditor<T>[] = [];

  constructor(port: InformerPort<T>, periodMs: number) {
    this.#port = port;
    this.#periodMs = periodMs;
    this.#begin(port.sources);
    port.board.publish();
  }

  sources(of: readonly ListerWatcher<T>[]): void {
    this.end();
    if (!this.#begin(of)) return;
    const { drain, store, board, timing, requestTimeoutMs } = this.#port;
    const statuses: AuditStatus[] = of.map(() => unaudited);
    const auditors = of.map(
      (listerWatcher, at) =>
        new Auditor<T>({
          ...{ store, timing, requestTimeoutMs, periodMs: this.#periodMs },
          scope: listerWatcher.scope,
          listMetadata: (request) =>
            (listerWatcher as { readonly listMetadata: MetadataLister }).listMetadata(request),
          repair: () => this.#port.order(at, { trustVersions: false }),
          publish: (status) =>
            drain.run(() => {
              if (this.#auditors !== auditors) return;
              statuses[at] = status;
              board.audit = mergeAudits(statuses);
              board.publish();
            }),
        }),
    );
    this.#auditors = auditors;
  }

  status(at: number, { live }: ReflectorStatus): void {
    this.#auditors[at]?.live(live);
  }

  received(_at: number, deltas: readonly Delta<T>[]): void {
    for (const auditor of this.#auditors) auditor.received(deltas);
  }

  around(batch: () => void, deltas: readonly Delta<T>[]): void {
    batch();
    // Only now, because a batch may be several commits that are not in the order of the versions.
    for (const auditor of this.#auditors) auditor.committed(deltas);
  }

  end(): void {
    for (const auditor of this.#auditors) auditor.stop();
    this.#auditors = [];
  }

  /**
   * Sets the status before the first comparison, which the next transition shows. Returns whether every ListerWatcher
   * can be audited.
   */
  #begin(of: readonly ListerWatcher<T>[]): boolean {
    const isSupported = of.every(({ listMetadata }) => listMetadata !== undefined);
    this.#port.board.audit = isSupported ? unaudited : 'unsupported';
    return isSupported;
  }
}

/**
 * The option `audit` of an informer or a factory: compares the store with the server periodically, to find events that
 * the watch lost without an error. An audit requests pages of metadata only, while the watch is live. Differences are
 * repaired by a list that compares the contents of objects. `status.audit` shows the results; it is `'unsupported'` if a
 * ListerWatcher has no `listMetadata`.
 *
 * Throws a `TypeError` if the period is too short or not a number. An informer of shards throws a `TypeError` for this
 * option, because an audit compares complete collections.
 *
 * @example
 * ```ts
 * import { audit, createClient, createListWatch, createSharedInformer } from 'rx-informer';
 * import { pods } from 'rx-informer/resources';
 * import { createFakeApiServer } from 'rx-informer/testing';
 *
 * const client = createClient({ baseUrl: 'http://fake', fetch: createFakeApiServer().fetch });
 * const informer = createSharedInformer(createListWatch(client, pods), {
 *   audit: audit({ periodMs: 600_000 }),
 * });
 * informer.status.audit; // => { compared: 0, differed: 0, ghosts: 0, missing: 0 }
 * ```
 */
export function audit(options: AuditOptions): InformerPartMaker {
  const periodMs = checkedPeriod(options?.periodMs, 'audit: periodMs', LEAST_PERIOD_MS);
  return (port: InformerPort<KubernetesObject>) => {
    if (port.partial) {
      throw new TypeError(
        `${port.name}: audit is not supported, because an audit compares the store with the complete collection, and this informer holds only some shards`,
      );
    }
    port.attach(Audits, () => new Audits(port, periodMs));
  };
}
