/**
 * What the events of an object come to: those that say the same are one `Event` with a count. client-go:
 * tools/events/event_broadcaster.go (eventKey, EventSeries), event_recorder.go (makeEvent).
 */
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import { knownResource, type Resource } from '../../meta/resource.ts';
import { microTime } from '../election/lease-record.ts';

/** What happened to an object, for those who look at it. */
export interface RecordedEvent {
  /** @defaultValue 'Normal' */
  readonly type?: 'Normal' | 'Warning' | undefined;
  /** Why, in one word of capitals and small letters: `Synced`, `FailedCreate`. */
  readonly reason: string;
  /** For a person. Not compared: the one that came first stands. At most 1024 bytes are kept. */
  readonly message: string;
  /** What was done: `Reconcile`, `CreateDeployment`. @defaultValue the reason */
  readonly action?: string | undefined;
  /** Another object that has to do with it. */
  readonly related?: KubernetesObject | undefined;
}

export const EVENTS: Resource<KubernetesObject> = /* @__PURE__ */ knownResource({
  group: 'events.k8s.io',
  version: 'v1',
  plural: 'events',
  kind: 'Event',
  namespaced: true,
});

const NOTE_BYTES = 1024;
const NAME_LENGTH = 253;
const TEXT_LENGTH = 128;

interface ObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
}

/** Without the version, with which each would be another: client-go has it, and begins anew at each change. */
function referenceTo(object: KubernetesObject): ObjectReference {
  const { apiVersion, kind } = object;
  const { name, namespace, uid } = object.metadata ?? {};
  if (!apiVersion || !kind || !name) {
    throw new TypeError(
      'an event needs an object with apiVersion, kind and metadata.name, as a client or a cache has it',
    );
  }
  return {
    apiVersion,
    kind,
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
  };
}

function cut(text: string, bytes: number): string {
  const encoded = new TextEncoder().encode(text);
  if (encoded.length <= bytes) return text;
  // A character that was cut in two decodes to U+FFFD.
  const head = new TextDecoder().decode(encoded.subarray(0, bytes - 3)).replace(/\uFFFD+$/, '');
  return `${head}…`;
}

/** What a name may begin with, for which another rule may hold: ClusterRoles have colons in theirs. */
function asDnsName(name: string, length: number): string {
  const labels = name
    .toLowerCase()
    .slice(0, length)
    .split('.')
    .map((label) => label.replace(/[^a-z0-9]/g, '-').replace(/^-+|-+$/g, ''));
  return labels.filter((label) => label !== '').join('.') || 'event';
}

/** Events that say the same: one object on the server. */
export class Series {
  readonly key: string;
  readonly namespace: string;
  readonly #prefix: string;
  readonly #body: object;
  #name = '';
  #count = 0;
  #sent = 0;
  lastAtMs = 0;
  /** When it last happened, on the stopwatch of the recorder. */
  quietSinceMs = 0;
  tries = 0;
  #names = 0;

  constructor(
    object: KubernetesObject,
    event: RecordedEvent,
    reporter: { readonly component: string; readonly instance: string },
  ) {
    const regarding = referenceTo(object);
    const { type = 'Normal', reason, message, action = reason, related } = event;
    if (!reason) throw new TypeError('an event needs a reason, in one word: Synced');
    const said = {
      type,
      reason: reason.slice(0, TEXT_LENGTH),
      action: action.slice(0, TEXT_LENGTH),
      reportingController: reporter.component,
      reportingInstance: reporter.instance.slice(0, TEXT_LENGTH),
      regarding,
      ...(related === undefined ? {} : { related: referenceTo(related) }),
    };
    this.key = JSON.stringify(said);
    this.namespace = regarding.namespace || 'default';
    this.#prefix = regarding.name;
    this.#body = { ...said, note: cut(message, NOTE_BYTES) };
  }

  get count(): number {
    return this.#count;
  }

  /** Something has happened that the server was not told. */
  get isBehind(): boolean {
    return this.#sent < this.#count;
  }

  /** It is on the server. */
  get isCreated(): boolean {
    return this.#sent > 0;
  }

  /** '' before its first try. */
  get name(): string {
    return this.#name;
  }

  happened(atMs: number, passedMs: number): void {
    this.#count++;
    this.lastAtMs = atMs;
    this.quietSinceMs = passedMs;
  }

  /** The server will not be told. */
  giveUp(): void {
    this.#sent = this.#count;
  }

  /** The server knows of so many. */
  told(count: number): void {
    this.#sent = count;
    this.tries = 0;
  }

  /** The server has none under its name, or another: the next is new. */
  beginAnew(): void {
    this.#name = '';
    this.#sent = 0;
  }

  /** The whole Event, under a name that no other has and that stays: a try whose answer was lost may have made it. */
  body(random: () => number): object {
    if (this.#name === '') this.#name = this.#newName(random());
    const { apiVersion, kind } = EVENTS;
    return {
      apiVersion,
      kind,
      metadata: { name: this.#name, namespace: this.namespace },
      eventTime: microTime(this.lastAtMs),
      ...this.#body,
      ...(this.#count > 1 ? this.patch() : {}),
    };
  }

  #newName(random: number): string {
    const unique =
      BigInt(Math.round(this.lastAtMs)) * 1_000_000n + BigInt(Math.floor(random * 1e6));
    const suffix = `.${(unique + BigInt(this.#names++)).toString(16)}`;
    return asDnsName(this.#prefix, NAME_LENGTH - suffix.length) + suffix;
  }

  /** What a repetition changes. */
  patch(): object {
    return { series: { count: this.#count, lastObservedTime: microTime(this.lastAtMs) } };
  }
}
