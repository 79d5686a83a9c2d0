/** What a test gives a program, and what the program tells the test: one line of JSON. */

/** Each program reads the settings that it needs. */
export interface Settings {
  /** The path of a kubeconfig. */
  readonly file: string;
  /** The URL whose paths change the cluster. */
  readonly control: string;
  /** A folder for files. */
  readonly folder: string;
  /** The URL of a fake API server without TLS. */
  readonly url: string;
}

/** Returns the settings of this program. */
export function settings(): Settings {
  return JSON.parse(process.argv[2] ?? '{}');
}

/** Tells the test what the program has seen. */
export function tell(seen: object): void {
  console.log(JSON.stringify(seen));
}

/** How long a program waits for a state, in milliseconds. */
export const PATIENCE: { readonly timeoutMs: number } = { timeoutMs: 20_000 };
