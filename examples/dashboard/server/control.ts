/** Reads a control message: a fault for the embedded server, or the rate of changes of its cluster. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { EmbeddedCluster } from '../embedded-cluster.ts';
import { type Control, faultNames } from '../shared/messages.ts';
import { answerJson, answerText } from './answer.ts';

const MOST_BYTES = 1024;
const MOST_CHANGES = 5000;

function parse(text: string): Control | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { fault, rate } = value as { fault?: unknown; rate?: unknown };
  const name = faultNames.find((each) => each === fault);
  if (name !== undefined) return { fault: name };
  const isRate = typeof rate === 'number' && rate >= 0 && rate <= MOST_CHANGES;
  return isRate ? { rate } : undefined;
}

export function readControl(
  request: IncomingMessage,
  response: ServerResponse,
  embedded: EmbeddedCluster,
): void {
  // A form of a foreign page cannot send this content type without a preflight request.
  const isJson = request.headers['content-type'] === 'application/json';
  if (request.method !== 'POST' || !isJson) {
    request.resume();
    answerText(response, 405, 'A control message is a POST of JSON.', { allow: 'POST' });
    return;
  }
  let text = '';
  request.setEncoding('utf8');
  request.on('data', (part: string) => {
    text += part;
    if (text.length > MOST_BYTES) request.destroy();
  });
  request.on('end', () => {
    const control = parse(text);
    if (control === undefined) {
      answerText(response, 400, 'This is not a control message.');
      return;
    }
    if ('fault' in control) embedded.hurt(control.fault);
    else embedded.rate = control.rate;
    answerJson(response, 200, {});
  });
}
