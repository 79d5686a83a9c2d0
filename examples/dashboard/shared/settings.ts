/** The settings of the dashboard: the server tells them to the page, and the page to its worker. */

/** Pages with equal settings share one worker's session, so the settings name everything that its informers depend on. */
export interface Settings {
  readonly cluster: 'embedded' | 'real';
  readonly source: string;
  /** The only namespace that is shown; '' for all. */
  readonly namespace: string;
  /** Whose objects the browser stores for the next reload; '' if it stores nothing. */
  readonly storedFor: string;
  /** The origin of the WebSocket of NATS, and the bucket; '' if the objects are read from the API server. */
  readonly nats: string;
  readonly bucket: string;
  /** The path before those of the API in requests: '' or, after another context was chosen, `/context/1` and so on. */
  readonly base: string;
  /** Whether users sign in, and the server of the dashboard answers the queries. */
  readonly hasUsers: boolean;
}

/** A page that shows everything, stores nothing and reads from the API server. */
export const noSettings = {
  source: '',
  namespace: '',
  storedFor: '',
  nats: '',
  bucket: '',
  base: '',
  hasUsers: false,
};

/** The settings of their text, which is the identity of a session of the worker. */
export function settingsOf(text: string): Settings {
  return JSON.parse(text) as Settings;
}
