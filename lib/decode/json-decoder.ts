/** The base of the decoders that parse one object at a time with `JSON.parse`. */
import { ApiError } from '../meta/api-error.ts';
import { KindTally } from './admission.ts';
import type { DecodeContext, Decoder } from './decoding.ts';

/** An error that a decoding step throws becomes the decoder's failure. */
export abstract class JsonDecoder<Out> implements Decoder<Out> {
  failure: ApiError | undefined;
  protected readonly tally: KindTally = new KindTally();
  readonly #onRefused: DecodeContext<never>['onRefused'];

  constructor({ onRefused }: Pick<DecodeContext<never>, 'onRefused'>) {
    this.#onRefused = onRefused;
  }

  push(chunk: Uint8Array): Out | undefined {
    return this.failure === undefined ? this.guard((out) => this.read(chunk, out)) : undefined;
  }

  end(): Out | undefined {
    return this.failure === undefined ? this.guard((out) => this.finish(out)) : undefined;
  }

  protected abstract empty(): Out;
  protected abstract isEmpty(out: Out): boolean;
  protected abstract read(chunk: Uint8Array, out: Out): void;
  protected abstract finish(out: Out): void;

  private guard(step: (out: Out) => void): Out | undefined {
    const out = this.empty();
    try {
      try {
        step(out);
      } finally {
        this.tally.report(this.#onRefused);
      }
    } catch (error) {
      this.failure = ApiError.from(error, 'decoding');
    }
    return this.isEmpty(out) ? undefined : out;
  }
}
