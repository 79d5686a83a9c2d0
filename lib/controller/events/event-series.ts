/**
 * Series of events: events with the same content about one object become one `Event` with a count. client-go:
 * tools/events/event_broadcaster.go (eventKey, EventSeries), event_recorder.go (makeEvent).
 */

import { microTime } from '../../election/lease-record.ts';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import { knownResource, type Resource } from '../../meta/resource.ts';

/** An event about an object, for its users. */
export interface RecordedEvent {
  /** `Warning` for events that a user should look at. @defaultValue 'Normal' */
  readonly type?: 'Normal' | 'Warning' | undefined;
  /** Why the event is reported, in one CamelCase word: `Synced`, `FailedCreate`. At most 128 bytes are kept. */
  readonly reason: string;
  /** A message for people. It is not compared: a series keeps its first message. At most 1024 bytes are kept. */
  readonly message: string;
  /** The action that was taken: `Reconcile`, `CreateDeployment`. At most 128 bytes are kept. @defaultValue the reason */
  readonly action?: string | undefined;
  /** Another object that the event concerns. */
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
const TEXT_BYTES = 128;

interface ObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
}

/** Without the resourceVersion. client-go includes it, so each change of the object starts another Event. */
function referenceTo(object: KubernetesObject): ObjectReference {
  const { apiVersion, kind } = object;
  const { name, namespace, uid } = object.metadata ?? {};
  if (!apiVersion || !kind || !name) {
    throw new TypeError(
      'an event needs an object with apiVersion, kind and metadata.name, as read from the server or a cache',
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

/** Cuts a text to this number of bytes, with `end` at the place of the cut. */
function cut(text: string, bytes: number, end = ''): string {
  const encoder = new TextEncoder();
  const encoded = encoder.encode(text);
  if (encoded.length <= bytes) return text;
  const head = encoded.subarray(0, bytes - encoder.encode(end).length);
  // A character that was cut in the middle decodes to U+FFFD.
  return new TextDecoder().decode(head).replace(/(?<!\uFFFD)\uFFFD+$/, '') + end;
}

/** Converts a name to the beginning of a valid Event name. Other kinds allow other names: those of ClusterRoles have colons. */
function asDnsName(name: string, length: number): string {
  const labels = name
    .toLowerCase()
    .slice(0, length)
    .split('.')
    .map((label) => label.replace(/[^a-z0-9]/g, '-').replace(/^-+|(?<!-)-+$/g, ''));
  return labels.filter((label) => label !== '').join('.') || 'event';
}

/** Events with the same content, which are one Event on the server. */
export class Series {
  readonly key: string;
  readonly namespace: string;
  readonly #prefix: string;
  readonly #body: object;
  #name = '';
  #count = 0;
  #sent = 0;
  lastAtMs = 0;
  /** The time of the last event, on the stopwatch of the recorder. */
  quietSinceMs = 0;
  tries = 0;
  #names = 0;

  constructor(
    object: KubernetesObject,
    event: RecordedEvent,
    reporter: { readonly component: string; readonly instance: string },
  ) {
    const regarding = referenceTo(object);
    const { type = 'Normal', reason, message, related } = event;
    if (!reason) throw new TypeError('an event needs a reason, in one word: Synced');
    const content = {
      type,
      reason: cut(reason, TEXT_BYTES),
      // The server refuses an empty action.
      action: cut(event.action || reason, TEXT_BYTES),
      reportingController: reporter.component,
      reportingInstance: cut(reporter.instance, TEXT_BYTES),
      regarding,
      ...(related === undefined ? {} : { related: referenceTo(related) }),
    };
    this.key = JSON.stringify(content);
    this.namespace = regarding.namespace || 'default';
    this.#prefix = regarding.name;
    this.#body = { ...content, note: cut(message, NOTE_BYTES, '…') };
  }

  get count(): number {
    return this.#count;
  }

  /** Whether there are events that are not on the server yet. */
  get isBehind(): boolean {
    return this.#sent < this.#count;
  }

  /** Whether the Event exists on the server. */
  get isCreated(): boolean {
    return this.#sent > 0;
  }

  /** The name of the Event; '' before the first attempt to create it. */
  get name(): string {
    return this.#name;
  }

  happened(atMs: number, passedMs: number): void {
    this.#count++;
    this.lastAtMs = atMs;
    this.quietSinceMs = passedMs;
  }

  /** Marks all events as written, because they will not be. */
  giveUp(): void {
    this.#sent = this.#count;
  }

  /** Marks the first `count` events as written. */
  written(count: number): void {
    this.#sent = count;
    this.tries = 0;
  }

  /** Starts another Event, because the server has none under this name, or that of another series. */
  startAnother(): void {
    this.#name = '';
    this.#sent = 0;
  }

  /** The complete Event. Its unique name stays, because an attempt whose response was lost may have created it. */
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

  /** The patch for a repetition. */
  patch(): object {
    return { series: { count: this.#count, lastObservedTime: microTime(this.lastAtMs) } };
  }
}
