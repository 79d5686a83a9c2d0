/** Writes short responses, always with the security headers. */
import type { ServerResponse } from 'node:http';
import { securityHeaders } from './guard.ts';

export function answerText(
  response: ServerResponse,
  code: number,
  sentence: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(code, {
    ...securityHeaders(),
    'content-type': 'text/plain; charset=utf-8',
    ...headers,
  });
  response.end(`${sentence}\n`);
}

export function answerJson(response: ServerResponse, code: number, value: unknown): void {
  response.writeHead(code, { ...securityHeaders(), 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}
