/** A client that reads watches of a fake server chunk by chunk, for the specs of the fake server. */
import { defineResource } from 'rx-informer';
import { createFakeApiServer } from 'rx-informer/testing';

export const pods = defineResource({
  group: '',
  version: 'v1',
  plural: 'pods',
  kind: 'Pod',
  namespaced: true,
});

export const pod = (name: string, labels: Record<string, string> = {}, phase = 'Running') => ({
  metadata: { name, namespace: 'shop', labels },
  status: { phase },
});

export interface Line {
  readonly type: string;
  readonly object: {
    readonly code?: number;
    readonly reason?: string;
    readonly metadata: {
      readonly name?: string;
      readonly resourceVersion: string;
      readonly annotations?: Record<string, string>;
    };
  };
}

/** A watch that is read chunk by chunk, and never ahead. */
export class Wire {
  readonly #abort = new AbortController();
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;

  private constructor(response: Response, abort: AbortController) {
    this.#abort = abort;
    if (response.body === null) throw new Error('no body');
    this.#reader = response.body.getReader();
  }

  static async open(fetch: typeof globalThis.fetch, query = 'watch=1', base = 'http://fake') {
    const abort = new AbortController();
    const response = await fetch(`${base}/api/v1/pods?${query}`, { signal: abort.signal });
    return new Wire(response, abort);
  }

  /** Returns the text of the next chunk, or `undefined` at the end. */
  async chunk(): Promise<string | undefined> {
    const { done, value } = await this.#reader.read();
    return done ? undefined : new TextDecoder().decode(value);
  }

  /** Returns the lines of the next chunk, abbreviated. */
  async lines(): Promise<string[]> {
    const text = (await this.chunk()) ?? '';
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => short(JSON.parse(line)));
  }

  /** Whether nothing arrives until the promise resolves. */
  isQuiet(during: Promise<unknown>): Promise<boolean> {
    return Promise.race([this.#reader.read().then(() => false), during.then(() => true)]);
  }

  abort(): void {
    this.#abort.abort();
  }
}

export const short = ({ type, object }: Line): string =>
  `${type} ${object.reason ?? object.metadata.name ?? object.metadata.resourceVersion}`;

/** Whether a promise has not settled when another server has answered several requests. */
export async function hangs(answer: Promise<unknown>): Promise<boolean> {
  let isOpen = true;
  const settle = () => {
    isOpen = false;
  };
  answer.then(settle, settle);
  const other = await createFakeApiServer().serve();
  for (let times = 0; times < 5; times++) {
    await (await fetch(`${other.url}/version`, { headers: { connection: 'close' } })).text();
  }
  await other.close();
  return isOpen;
}
