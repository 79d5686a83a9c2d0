/** Runs the decoders on chunks of bytes, and builds the bytes that a server sends. */
import {
  type DecodeContext,
  type Decoder,
  type Decoding,
  defineResource,
  jsonDecoding,
  type KubernetesObject,
  type ListPart,
  type Refusal,
  type WatchEvent,
} from 'rx-informer';

export type Anything = KubernetesObject & Record<string, unknown>;

export const pods = defineResource<Anything>({
  group: '',
  version: 'v1',
  plural: 'pods',
  kind: 'Pod',
  namespaced: true,
});

/** A Pod that differs from its next state in a condition. */
export const pod = (version: number, ready: string, more: object = {}) => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name: 'a', uid: 'u1', resourceVersion: String(version), labels: { app: 'web' } },
  spec: { containers: [{ name: 'main', image: 'web:1', ports: [80, 443], tty: false }] },
  status: {
    conditions: [
      { type: 'PodScheduled', status: 'True', lastProbeTime: null },
      { type: 'Ready', status: ready },
    ],
    restarts: 0,
  },
  ...more,
});

/** The context of a decoder that is made without {@link watch} and {@link list}. */
export const context = {
  resource: pods,
  maxFrameBytes: 1_000_000,
  keepManagedFields: false,
  onRefused: () => undefined,
};

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

export interface Decoded<Out> {
  readonly out: Out[];
  readonly refusals: Refusal[];
  readonly failure: string | undefined;
}

export type Options = Partial<DecodeContext<Anything>> & { readonly decoding?: Decoding };

function noting(refusals: Refusal[], options: Options): DecodeContext<Anything> {
  return {
    resource: pods,
    maxFrameBytes: 1_000_000,
    keepManagedFields: false,
    onRefused: (each) => refusals.push(each),
    ...options,
  };
}

function run<Out>(decoder: Decoder<Out>, chunks: readonly Uint8Array[], ends: boolean): Out[] {
  const out: Out[] = [];
  for (const chunk of chunks) {
    // The bytes are overwritten after the call, so a decoder must have copied what it keeps.
    const lent = Buffer.from(chunk);
    const decoded = decoder.push(lent);
    lent.fill(0x21);
    if (decoded !== undefined) out.push(decoded);
  }
  const rest = ends ? decoder.end() : undefined;
  return rest === undefined ? out : [...out, rest];
}

/** Decodes a watch body from these chunks. */
export function watch(
  chunks: readonly (string | Uint8Array)[],
  options: Options & { readonly ends?: boolean } = {},
): Decoded<WatchEvent<Anything>> {
  const refusals: Refusal[] = [];
  const { ends = true, decoding = jsonDecoding(), ...rest } = options;
  const decoder = decoding.watch(noting(refusals, rest));
  const parts = chunks.map((each) => (typeof each === 'string' ? bytes(each) : each));
  const out = run(decoder, parts, ends).flat();
  return { out, refusals, failure: decoder.failure?.message };
}

/** Decodes a list body from these chunks and joins its parts. */
export function list(
  chunks: readonly (string | Uint8Array)[],
  options: Options = {},
): Decoded<Anything> &
  Pick<ListPart<Anything>, 'metadata' | 'refused'> & { reason?: string; code?: number } {
  const refusals: Refusal[] = [];
  const { decoding = jsonDecoding(), ...rest } = options;
  const decoder = decoding.list(noting(refusals, rest));
  const parts = chunks.map((each) => (typeof each === 'string' ? bytes(each) : each));
  const all = run(decoder, parts, true);
  const metadata = all.at(-1)?.metadata;
  const { failure } = decoder;
  return {
    out: all.flatMap(({ items }) => items),
    refused: all.flatMap(({ refused = [] }) => refused),
    refusals,
    failure: failure?.message,
    ...(failure === undefined ? {} : { reason: failure.reason, code: failure.code }),
    ...(metadata === undefined ? {} : { metadata }),
  };
}

/** Splits bytes in two, at every position. */
export function* cuts(all: Uint8Array): Generator<[Uint8Array, Uint8Array]> {
  for (let at = 0; at <= all.length; at++) yield [all.subarray(0, at), all.subarray(at)];
}
