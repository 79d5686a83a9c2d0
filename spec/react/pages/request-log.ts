/** The requests for collections, beside the questions that may cause them. */
import type { Cluster } from './cluster.ts';
import type { PageClock } from './mini-dom.ts';
import { type Question, RESOURCES } from './questions.ts';

interface Cause {
  readonly env: number;
  readonly question: Question;
  untilMs: number;
}

/** How long a lease of a render, or StrictMode, keeps a question that is left, in milliseconds. */
const SLACK_MS = 2_100;

/** Whether an informer of the first namespaces can have objects of the second ones; `undefined` is all. */
function overlap(has: Question['namespace'], asked: Question['namespace']): boolean {
  if (has === undefined) return true;
  const names = [asked ?? []].flat();
  return [has].flat().some((name) => names.includes(name));
}

export class RequestLog {
  readonly #clock: PageClock;
  readonly #lingerMs: number;
  readonly #fail: (what: string) => void;
  readonly #causes: Cause[] = [];
  readonly #kept = new Set<string>();
  readonly #removed = new Set<string>();

  constructor(clock: PageClock, lingerMs: number, fail: (what: string) => void) {
    this.#clock = clock;
    this.#lingerMs = lingerMs;
    this.#fail = fail;
  }

  /** The name of the informer that has exactly this scope. */
  nameOf({ of, namespace, label, name, as }: Question): string {
    const namespaces = typeof namespace === 'object' ? [...namespace].sort().join('+') : namespace;
    return [RESOURCES[of]?.plural, namespaces ?? '', label, name ?? '', as ?? ''].join(' ');
  }

  asked(env: number, question: Question): void {
    this.#causes.push({ env, question, untilMs: Number.POSITIVE_INFINITY });
    for (const name of [...this.#removed])
      if (name.startsWith(`${env} `)) this.#removed.delete(name);
  }

  /** Whether nothing has an answer to the question, or to a part of it, that is kept up to date. */
  isCold(env: number, { of, as }: Question): boolean {
    return !this.#causes.some(
      ({ env: own, question, untilMs }) =>
        own === env && question.of === of && question.as === as && untilMs >= this.#clock.nowMs,
    );
  }

  left(env: number, question: Question): void {
    const cause = this.#causes.find(
      (each) =>
        each.env === env && each.question === question && each.untilMs === Number.POSITIVE_INFINITY,
    );
    if (cause !== undefined) cause.untilMs = this.#clock.nowMs + 2 * this.#lingerMs + SLACK_MS;
  }

  kept(env: number, question: Question): void {
    this.asked(env, question);
    this.#kept.add(`${env} ${this.nameOf(question)}`);
  }

  removed(env: number, question: Question): void {
    const name = `${env} ${this.nameOf(question)}`;
    this.#kept.delete(name);
    this.#removed.add(name);
  }

  /** The number of watches of the informers that are kept. */
  keptWatches(env: number): number {
    const names = [...this.#kept].filter((each) => each.startsWith(`${env} `));
    return names.reduce((sum, name) => sum + (name.includes('+') ? 2 : 1), 0);
  }

  /** A request for a collection. */
  sent(env: number, url: URL, accept: string): void {
    url.searchParams.set('env', String(env));
    const [, namespace, plural, name] =
      /v1\/(?:namespaces\/(\w+)\/)?(\w+)(?:\/(\w+))?$/.exec(url.pathname) ?? [];
    // An object for an edit, or a client's probe for proxies that hold events back (W21).
    if (name !== undefined || url.searchParams.get('timeoutSeconds') === '5') return;
    const label = url.searchParams.get('labelSelector') ?? '';
    const field = url.searchParams.get('fieldSelector');
    const as = accept.includes('as=PartialObjectMetadata') ? 'metadata' : undefined;
    const own = this.#causes.filter(
      ({ env: of, question }) =>
        of === env && question.as === as && RESOURCES[question.of]?.plural === plural,
    );
    const fieldOf = ({ name }: Question) => (name === undefined ? null : `metadata.name=${name}`);
    const askers = own.filter(({ question }) => {
      if (question.label !== label || fieldOf(question) !== field) return false;
      const { namespace: asked } = question;
      return typeof asked === 'object' ? asked.includes(namespace ?? '') : asked === namespace;
    });
    // An informer also serves questions about a part of its objects, and stays for them.
    const served = own.filter(({ question, untilMs }) => {
      if (untilMs < this.#clock.nowMs || (label !== '' && question.label !== label)) return false;
      return field === null || fieldOf(question) === field;
    });
    const isCaused = askers.some(({ question: { namespace: has } }) =>
      served.some(({ question: { namespace: asked } }) => overlap(has, asked)),
    );
    const text = `${env} ${[plural, namespace ?? '', label, field?.slice(14) ?? '', as ?? ''].join(' ')}`;
    if (!isCaused)
      this.#fail(`a request that no component has caused: ${url.pathname}${url.search}`);
    if (this.#removed.has(text)) this.#fail(`a request of a removed informer: ${text}`);
  }

  /** Equal watches are one. */
  checkEqual(clusters: readonly Cluster[]): void {
    for (const { server, isIll, isShaken } of clusters) {
      if (isIll || isShaken) continue;
      const lines = server.openWatches.map(({ request: { path, query } }) => {
        const { env, labelSelector = '', fieldSelector = '' } = query;
        return [env, path, labelSelector, fieldSelector].join(' ');
      });
      for (const line of new Set(lines)) {
        const count = lines.filter((each) => each === line).length;
        if (count > this.#informersOf(line)) this.#fail(`${count} equal watches: ${line}`);
      }
    }
  }

  /** How many informers may watch the same address: of metadata and objects, of one namespace and of several. */
  #informersOf(line: string): number {
    const [env, path = '', label, field] = line.split(' ');
    const isOfOne = path.includes('/namespaces/');
    const names = this.#causes.flatMap(({ env: own, question }) => {
      const { of, namespace, as, label: asked, name } = question;
      const isSame =
        `${own}` === env && path.endsWith(`/${RESOURCES[of]?.plural}`) && asked === label;
      if (!isSame || (name === undefined ? '' : `metadata.name=${name}`) !== field) return [];
      return isOfOne && typeof namespace === 'object' ? [`${as}`, `${as} of several`] : [`${as}`];
    });
    return new Set(names).size;
  }

  checkOpen(
    { at, cluster }: { readonly at: number; readonly cluster: Cluster },
    expected: number,
  ): void {
    const open = cluster.server.openWatches.filter(
      ({ request }) => request.query['env'] === String(at),
    );
    if (open.length === expected) return;
    const paths = open.map(({ request: { path } }) => path);
    this.#fail(`env ${at}: ${open.length} open watches in place of ${expected}: ${paths}`);
  }
}
