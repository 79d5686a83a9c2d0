/** The edits of a page: what was asked, which requests were sent, and how each has ended. */
import type { KubernetesObject } from 'rx-informer';
import type { EditResult } from 'rx-informer/react';
import type { ConfigMap } from 'rx-informer/resources';
import { type Cluster, nextValue } from './cluster.ts';
import type { PageClock } from './mini-dom.ts';
import { type Facts, RESOURCES } from './questions.ts';

export const OUTCOMES = [
  'ok',
  'refused',
  'conflict',
  'slow',
  'slowAnswer',
  'slowlyRefused',
  'silent',
] as const;
export type Outcome = (typeof OUTCOMES)[number];

const SLOW_MS = 400;
const TIMEOUT_MS = 2_000;

interface Edit {
  readonly era: number;
  readonly of: number;
  readonly uid: string;
  readonly path: string;
  readonly value: string;
  readonly outcome: Outcome;
  /** Given by its key, so that the draft is shown only if the provider knows the object. */
  readonly byKey: boolean;
  attempts: number;
  isAnswered: boolean;
  isSettled: boolean;
}

export interface Begun {
  readonly edit: EditResult<ConfigMap>['edit'];
  readonly era: number;
  readonly of: number;
  readonly target: KubernetesObject;
  readonly byKey: boolean;
  readonly outcome: Outcome;
}

/** What `useEdit` shows. */
interface Counted {
  pending: number;
  error: unknown;
}

export class EditModel {
  readonly #clock: PageClock;
  readonly #fail: (what: string) => void;
  readonly #edits: Edit[] = [];
  readonly #open = new Set<Edit>();
  /** By the function `edit`, which is another one for another provider or resource. */
  readonly #counts = new WeakMap<object, Counted>();

  constructor(clock: PageClock, fail: (what: string) => void) {
    this.#clock = clock;
    this.#fail = fail;
  }

  begin({ edit, era, of, target, byKey, outcome }: Begun): void {
    const { metadata } = target;
    const { namespace = '', name = '', uid = '' } = metadata ?? {};
    const value = nextValue('e');
    const own: Edit = {
      ...{ era, of, uid, value, outcome, byKey, attempts: 0, isAnswered: false, isSettled: false },
      path: `/namespaces/${namespace}/${RESOURCES[of]?.plural}/${name}`,
    };
    this.#edits.push(own);
    const counted = this.#counts.get(edit) ?? { pending: 0, error: undefined };
    this.#counts.set(edit, counted);
    counted.pending++;
    counted.error = undefined;
    const recipe = (draft: { data?: unknown }) => {
      draft.data = { v: value, g: String(Number(value.slice(-1)) % 2) };
    };
    const settle = (error: unknown) => {
      own.isSettled = true;
      counted.pending--;
      counted.error = error ?? counted.error;
      const isRefused = outcome === 'refused' || outcome === 'slowlyRefused';
      if (error === undefined && (isRefused || outcome === 'silent')) {
        this.#fail(`edit ${value} (${outcome}): resolved`);
      }
      // Otherwise the object was not found, or not read in time.
      if (isRefused && own.isAnswered && !String(error).includes(value)) {
        this.#fail(`edit ${value} (${outcome}): rejected with ${error}`);
      }
    };
    const given = byKey ? `${namespace}/${name}` : (target as never);
    edit(given, recipe as never, { timeoutMs: TIMEOUT_MS }).then(
      () => settle(undefined),
      (error: unknown) => settle(error),
    );
  }

  dismiss(edit: EditResult<ConfigMap> | undefined): void {
    edit?.dismiss();
    const counted = edit && this.#counts.get(edit.edit);
    if (counted !== undefined) counted.error = undefined;
  }

  /** Returns what is wrong with what `useEdit` shows. */
  check({ edit, pending, error }: EditResult<ConfigMap>): readonly string[] {
    const counted = this.#counts.get(edit) ?? { pending: 0, error: undefined };
    if (pending !== counted.pending) return [`pending ${pending} in place of ${counted.pending}`];
    return error === counted.error ? [] : [`error ${error} in place of ${counted.error}`];
  }

  checkSettled(): void {
    for (const { isSettled, value, outcome } of this.#edits) {
      if (!isSettled) this.#fail(`edit ${value} (${outcome}): has no end`);
    }
  }

  /** Whether drafts may or may not be shown. */
  isUncertain(era: number, of: number): boolean {
    return this.#edits.some(
      (edit) => !edit.isSettled && edit.byKey && edit.era === era && edit.of === of,
    );
  }

  /** The objects with the drafts that a provider shows. */
  over(objects: readonly Facts[], era: number | undefined): readonly Facts[] {
    return objects.map((object) => {
      const edit = this.#edits.findLast(
        (each) => !each.isSettled && each.era === era && each.uid === object.uid,
      );
      if (edit === undefined) return object;
      return { ...object, value: edit.value, flag: String(Number(edit.value.slice(-1)) % 2) };
    });
  }

  /** A write on its way to the server. */
  async sent(
    cluster: Cluster,
    url: URL,
    init: RequestInit,
    send: () => Promise<Response>,
  ): Promise<Response> {
    const body =
      typeof init.body === 'string' ? init.body : new TextDecoder().decode(init.body as Uint8Array);
    const value = /e\d{6}/.exec(body)?.[0];
    const edit = this.#edits.find((each) => each.value === value);
    if (edit === undefined || !url.pathname.endsWith(edit.path)) {
      this.#fail(`PATCH ${url.pathname} ${body}: no edit has asked for it`);
      return send();
    }
    const other = [...this.#open].find(({ path, era }) => path === edit.path && era === edit.era);
    if (other !== undefined)
      this.#fail(`edit ${edit.value}: sent before ${other.value} was answered`);
    // An edit whose object could not be read is never sent.
    const sent = this.#edits.filter(
      ({ path, era, attempts }) => path === edit.path && era === edit.era && attempts > 0,
    );
    for (const before of sent) {
      if (before.value > edit.value) this.#fail(`edit ${edit.value}: sent after ${before.value}`);
      if (before.value >= edit.value || before.isAnswered) continue;
      // The promise of an edit that has failed is settled in the same task.
      this.#clock.set(() => {
        if (before.isSettled) return;
        this.#fail(`edit ${edit.value}: sent before the end of ${before.value}`);
      });
    }
    this.#open.add(edit);
    let isAnswered = true;
    try {
      const answer = await this.#answer(edit, cluster, init, send);
      // After a conflict it is sent again.
      isAnswered = answer.ok || answer.status === 403;
      return answer;
    } finally {
      edit.isAnswered = isAnswered;
      this.#open.delete(edit);
    }
  }

  async #answer(
    edit: Edit,
    cluster: Cluster,
    { signal }: RequestInit,
    send: () => Promise<Response>,
  ): Promise<Response> {
    edit.attempts++;
    const { outcome, value } = edit;
    if (outcome === 'silent') {
      return new Promise((_, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason));
      });
    }
    if (outcome === 'conflict' && edit.attempts === 1) {
      const objects = cluster.raw(edit.of);
      const object = objects.find(({ metadata }) => metadata?.uid === edit.uid);
      const other = { ...object, data: { v: nextValue('w'), g: '0' } };
      if (object !== undefined)
        cluster.server.objects.update(RESOURCES[edit.of] as never, other as never);
    }
    if (outcome === 'slow' || outcome === 'slowlyRefused') await this.#wait();
    if (outcome === 'refused' || outcome === 'slowlyRefused') {
      const status = {
        kind: 'Status',
        apiVersion: 'v1',
        status: 'Failure',
        reason: 'Forbidden',
        code: 403,
      };
      const text = JSON.stringify({ ...status, message: `no edit ${value}` });
      return new Response(text, { status: 403, headers: { 'content-type': 'application/json' } });
    }
    const answer = await send();
    if (outcome === 'slowAnswer') await this.#wait();
    return answer;
  }

  #wait(): Promise<void> {
    return new Promise((resolve) => this.#clock.set(resolve, SLOW_MS));
  }
}
