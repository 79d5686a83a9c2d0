/// <reference types="node" />
/**
 * The credentials of a kubeconfig user. They are read again after a few seconds, because token files rotate and the
 * tokens of plugins expire. Concurrent requests share one call of a plugin. No output of a plugin appears in an
 * error.
 */
import type { RequestOptions } from 'node:https';
import type { KubeConfig } from '@kubernetes/client-node';
import { ApiError } from '../meta/api-error.ts';
import { shownText } from '../meta/shown-text.ts';
import type { FullUser } from './kube-config-fields.ts';
import { addedTo, copy } from './load-kube-config.ts';
import type { TlsOptions } from './undici/pool-options.ts';

/** The credentials of one request. */
export interface Credentials {
  /** The names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: TlsOptions;
}

/** The credentials of one user. */
export interface CredentialSource {
  /**
   * Returns the credentials synchronously if they are known and fresh. Otherwise the promise may reject with an
   * {@link ApiError} of reason `Credentials`.
   */
  current(): Credentials | Promise<Credentials>;
  /**
   * Call this when the server has refused the credentials, so that the next `current()` reads them again. Returns
   * false if reading them again cannot help.
   */
  refused(credentials: Credentials): boolean;
}

/**
 * How long credentials are reused, in milliseconds, in addition to the caching of client-node (tokens until they
 * expire, files for a minute).
 */
const FRESH_MS = 5_000;
/** How long to wait for credentials, in milliseconds. A plugin may open a browser and wait for a login. */
const PATIENCE_MS = 120_000;

const TLS = ['ca', 'cert', 'key', 'pfx', 'passphrase', 'rejectUnauthorized', 'servername'] as const;

/** Returns what to do if a plugin has failed. The `installHint` is always shown, whatever the failure was. */
function nextStep(exec: { readonly installHint?: unknown } | undefined): string {
  const hint = exec?.installHint;
  const shown = typeof hint === 'string' && hint !== '' ? `. Its installHint: ${hint}` : '';
  return shownText(`try the same with kubectl${shown}`);
}

async function credentialsOf(config: KubeConfig): Promise<Credentials> {
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    // A token read from a file ends with a newline.
    if (value !== undefined) headers[name.toLowerCase()] = String(value).trim();
  }
  const user: FullUser | null = config.getCurrentUser();
  if (user?.username) {
    // client-node would send a missing password as 'undefined'.
    const pair = `${user.username}:${user.password ?? ''}`;
    headers.authorization = `Basic ${Buffer.from(pair).toString('base64')}`;
  }
  if (user?.exec && headers.authorization === undefined && !(options.cert && options.key)) {
    const who = `the credential plugin '${user.exec.command}' of user '${user.name}'`;
    const what = 'returned neither a token nor a certificate with its key';
    throw ApiError.local('Credentials', `${who} ${what}; ${nextStep(user.exec)}`);
  }
  for (const [name, [only, ...more]] of Object.entries(user?.impersonation ?? {})) {
    if (only !== undefined && more.length === 0) headers[name] = only;
  }
  const tls: Record<string, unknown> = {};
  for (const name of TLS) if (options[name] !== undefined) tls[name] = options[name];
  return { headers, tls };
}

/**
 * Describes the failure without quoting it, because a plugin's output, or a parser's excerpt of it, contains secrets.
 */
function failure(config: KubeConfig, error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const user = config.getCurrentUser();
  const exec = user?.exec ?? user?.authProvider?.config?.exec;
  const who =
    typeof exec?.command === 'string'
      ? `the credential plugin '${exec.command}'`
      : 'the credentials';
  const { code, path } = error as { code?: unknown; path?: unknown };
  const at = typeof path === 'string' && path !== exec?.command ? `: ${path}` : '';
  const why = typeof code === 'string' && /^[A-Z][A-Z0-9_]*$/.test(code) ? ` (${code}${at})` : '';
  const text = `${who} of user '${user?.name ?? ''}' failed${why}; ${nextStep(exec)}`;
  return ApiError.local('Credentials', text);
}

function within<T>(answer: Promise<T>, late: () => ApiError): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), PATIENCE_MS);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Reads credentials through client-node's public `applyToHTTPSOptions`. */
export function kubeConfigCredentials(kubeConfig: KubeConfig): CredentialSource {
  let config = kubeConfig;
  let known: { credentials: Credentials; atMs: number } | undefined;
  let inFlight: Promise<Credentials> | undefined;
  const late = () =>
    ApiError.local(
      'Credentials',
      `no credentials were returned within ${PATIENCE_MS / 1000} s; does a credential plugin wait for a login?`,
    );

  const fetch = (): Promise<Credentials> => {
    const from = config;
    const answer = within(credentialsOf(from), late).then(
      (credentials) => {
        // Credentials are not kept if earlier ones were refused while these were requested.
        if (from === config) known = { credentials, atMs: performance.now() };
        return credentials;
      },
      (error) => {
        // A new copy drops the output of the plugin, which client-node caches even if it cannot use it.
        if (from === config) config = copy(from);
        throw failure(from, error);
      },
    );
    const done = () => {
      if (inFlight === answer) inFlight = undefined;
    };
    answer.then(done, done);
    return answer;
  };
  return {
    current() {
      if (known !== undefined && performance.now() - known.atMs < FRESH_MS) {
        return known.credentials;
      }
      inFlight ??= fetch();
      return inFlight;
    },
    refused(credentials) {
      const user = config.getCurrentUser();
      const files = user?.certFile ?? user?.keyFile ?? user?.exec ?? user?.authProvider;
      if (!files && addedTo(config).length === 0) return false;
      // If many requests are refused together, only the first drops the credentials.
      if (known?.credentials === credentials) {
        known = undefined;
        inFlight = undefined;
        // A new copy drops the plugin's token, which client-node would keep until it expires.
        config = copy(config);
      }
      return true;
    },
  };
}
