/** Reads which context of the kubeconfig a page has chosen. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ContextChoice } from '../shared/messages.ts';
import { answerJson, answerText } from './answer.ts';
import { BodyRefused, readForwardedBody } from './forwarded-body.ts';

/** Handles a `POST /dashboard/context`, which only the page of the dashboard itself may send. */
export async function readContext(
  request: IncomingMessage,
  response: ServerResponse,
  choose: (context: string) => Promise<void>,
): Promise<void> {
  if (request.method !== 'POST') {
    request.resume();
    answerText(response, 405, 'A choice of a context is a POST of JSON.', { allow: 'POST' });
    return;
  }
  try {
    const { body } = await readForwardedBody(request, 'write', {});
    const { context } = JSON.parse(body) as Partial<ContextChoice>;
    if (typeof context !== 'string') throw new BodyRefused(400, 'The choice names no context.');
    await choose(context);
    answerJson(response, 200, {});
  } catch (error) {
    const code = error instanceof BodyRefused ? error.code : 502;
    answerText(response, code, error instanceof Error ? error.message : String(error));
  }
}
