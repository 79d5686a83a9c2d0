/** Sends a message to the server of the dashboard. */
export function post(path: string, message: object): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  return fetch(path, { method: 'POST', headers, body: JSON.stringify(message) });
}
