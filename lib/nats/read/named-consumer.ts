/**
 * A consumer that was made for one reader. The reader cannot make another one: it sets this one back to the sequence at
 * which it wants to begin.
 */
import { ApiError } from '../../meta/api-error.ts';
import { natsError, unavailable } from '../failures.ts';
import { checkedToken } from '../layout.ts';
import { type GivenConsumer, opened, type PullRequest, type PullSignal } from '../pull.ts';

/** The parts of an answer to a reset that a reader needs. */
interface ResetAnswer {
  readonly error?: { readonly description: string };
  readonly config?: { readonly filter_subject?: string };
  readonly num_pending?: number;
  readonly ts?: string;
}

/** How long the server may take to answer, in milliseconds. */
const TIMEOUT_MS = 5_000;

/** Sets the consumer back to the first sequence, and its counter of messages to 0. */
async function reset(
  { connection, stream, filter, from = 1, where }: PullRequest,
  name: string,
): Promise<PullSignal> {
  const subject = `$JS.API.CONSUMER.RESET.${stream}.${name}`;
  const answer = await connection
    .request(subject, JSON.stringify({ seq: from }), { timeout: TIMEOUT_MS })
    .catch((error: unknown) => {
      const shown = natsError(error, where);
      throw shown.code === 403
        ? shown
        : unavailable(`${shown.message}; does the consumer ${name} exist?`);
    });
  const { error, config, num_pending: pending = 0, ts } = answer.json<ResetAnswer>();
  if (error !== undefined) {
    throw unavailable(`${where}: the consumer ${name} cannot be reset: ${error.description}`);
  }
  if (config?.filter_subject === filter) return opened(pending, ts);
  const message = `${where}: the consumer ${name} was made for ${config?.filter_subject}, not for ${filter}`;
  throw new ApiError({ code: 403, reason: 'Forbidden', message });
}

/** The consumer of this name; `undefined` without a name. Throws a `TypeError` if the name is invalid. */
export function namedConsumer(name: string | undefined): GivenConsumer | undefined {
  if (name === undefined) return undefined;
  checkedToken(name, 'createNatsListWatch: consumer');
  return { name, open: (request) => reset(request, name) };
}
