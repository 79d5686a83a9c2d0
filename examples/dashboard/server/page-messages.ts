/** Reads the messages of the page: which context of the kubeconfig it has chosen, and what it does to the embedded cluster. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { EmbeddedCluster } from '../embedded-cluster.ts';
import { faultNames } from '../shared/messages.ts';
import { answerJson, answerText } from './answer.ts';
import { BodyRefused, parsed, readForwardedBody } from './forwarded-body.ts';

const MOST_CHANGES = 5000;

/** Handles a POST of JSON, which only the page of the dashboard itself may send. */
export async function readMessage(
  request: IncomingMessage,
  response: ServerResponse,
  act: (message: Readonly<Record<string, unknown>>) => Promise<void> | void,
): Promise<void> {
  if (request.method !== 'POST') {
    request.resume();
    answerText(response, 405, 'A message of the page is a POST of JSON.', { allow: 'POST' });
    return;
  }
  try {
    const { body } = await readForwardedBody(request, 'write', {});
    await act(parsed(body));
    answerJson(response, 200, {});
  } catch (error) {
    const code = error instanceof BodyRefused ? error.code : 502;
    answerText(response, code, error instanceof Error ? error.message : String(error));
  }
}

/** The context that a message chooses. */
export function contextIn({ context }: Readonly<Record<string, unknown>>): string {
  if (typeof context !== 'string') throw new BodyRefused(400, 'The choice names no context.');
  return context;
}

/** Injects a fault, or sets the rate of changes. */
export function control(
  embedded: EmbeddedCluster,
  { fault, rate }: Readonly<Record<string, unknown>>,
): void {
  const name = faultNames.find((each) => each === fault);
  if (name !== undefined) embedded.hurt(name);
  else if (typeof rate === 'number' && rate >= 0 && rate <= MOST_CHANGES) embedded.rate = rate;
  else throw new BodyRefused(400, 'This is not a control message.');
}
