/**
 * Simulates other clients of the cluster: several writers create, change, delete and recreate objects, without a
 * `pause` as fast as the server allows. Their writes are random but reproducible; each writer has keys of its own.
 */
import { type KubernetesObject, type Resource, resourcePath } from 'rx-informer';
import { eventually } from '../support/patience.ts';
import type { RawApi } from './raw-api.ts';

/** The options of {@link startChurn}. */
export interface ChurnOptions {
  readonly api: RawApi;
  readonly resource: Resource<KubernetesObject>;
  readonly namespaces: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  /** @defaultValue 8 */
  readonly writers?: number;
  /** The number of names that a writer uses in each namespace. @defaultValue 25 */
  readonly names?: number;
  /** The number of writes after which each writer ends. @defaultValue never */
  readonly writes?: number;
  /** What each writer waits for after a write. @defaultValue nothing */
  readonly pause?: () => Promise<unknown>;
  /** The field for the content: `data` of a ConfigMap, `spec` of a custom object. @defaultValue 'data' */
  readonly field?: string;
}

/** The counts of the writers. */
export interface ChurnReport {
  readonly created: number;
  readonly updated: number;
  readonly deleted: number;
  /** The number of calls without a response, or with a temporary refusal, during outages. */
  readonly failed: number;
}

/** Running writers. */
export interface Churn {
  /** The counts so far. */
  readonly report: ChurnReport;
  /** Resolves when all `writes` are done. */
  readonly done: Promise<ChurnReport>;
  /** Ends after the writes in progress. */
  stop(): Promise<ChurnReport>;
}

/** A linear congruential generator: numbers in [0, 1), the same in every run. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Starts the writers. */
export function startChurn(options: ChurnOptions): Churn {
  const { api, resource, namespaces, labels = {}, field = 'data' } = options;
  const { writers = 8, names = 25, writes = Number.POSITIVE_INFINITY, pause } = options;
  const { apiVersion, kind } = resource;
  const report = { created: 0, updated: 0, deleted: 0, failed: 0 };
  let stopped = false;

  const write = async (writer: number) => {
    const random = randomFrom(writer + 1);
    const pick = (below: number) => Math.floor(random() * below);
    const content = () => ({
      [field]: { at: String(pick(1e9)), text: 'Grüße, 世界 🌍 '.repeat(pick(12)) },
    });
    const call = async (method: string, path: string, body?: unknown) => {
      try {
        const { status } = await api.call(method, path, body === undefined ? {} : { body });
        if (status < 500 && status !== 429) return status;
      } catch {
        // The server is unreachable, and it is unknown whether the write was executed.
      }
      report.failed++;
      const isBack = async () => stopped || (await api.call('GET', '/version')).status === 200;
      await eventually(isBack, 'the server answers');
      return 0;
    };
    for (let count = 0; count < writes && !stopped; count++) {
      const namespace = namespaces[pick(namespaces.length)] as string;
      const name = `churn-${writer}-${pick(names)}`;
      const collection = resourcePath(resource, { namespace });
      const path = resourcePath(resource, { namespace, name });
      const create = async () => {
        const body = { apiVersion, kind, metadata: { name, labels }, ...content() };
        if ((await call('POST', collection, body)) === 201) report.created++;
      };
      if (random() < 0.3) {
        if ((await call('DELETE', path)) === 200) report.deleted++;
        // A new object is created immediately under the same name.
        if (random() < 0.5) await create();
      } else {
        const status = await call('PATCH', path, content());
        if (status === 200) report.updated++;
        else if (status === 404) await create();
      }
      await pause?.();
    }
  };
  const done = Promise.all(Array.from({ length: writers }, (_, writer) => write(writer))).then(
    () => report,
  );
  return {
    report,
    done,
    stop() {
      stopped = true;
      return done;
    },
  };
}
