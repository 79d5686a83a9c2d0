/// <reference types="node" />
/**
 * The credentials of a kubeconfig user. They are read again after a few seconds, because token files rotate and the
 * tokens of plugins expire. Concurrent requests share one run of a plugin. No output of a plugin appears in an
 * error.
 */
import { readFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import { isDeepStrictEqual } from 'node:util';
import { asyncScheduler, Observable } from 'rxjs';
import { finalize, share } from 'rxjs/operators';
import { ApiError } from '../meta/api-error.ts';
import { shownText } from '../meta/shown-text.ts';
import { longTimer } from '../rx/long-timer.ts';
import type { Plugin } from './exec-plugin.ts';
import { bytesOf, type FullUser } from './kube-config-fields.ts';
import { addedTo, copy, type LoadedConfig } from './load-kube-config.ts';
import { type PluginCredentials, runPlugin } from './run-plugin.ts';
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
   * Returns the credentials synchronously if they are known and fresh. Otherwise they arrive later, for all subscribers
   * at the same time, or an {@link ApiError} of reason `Credentials` does. If all subscribers leave, a plugin that runs
   * is ended.
   */
  current(): Credentials | Observable<Credentials>;
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

const TLS = ['ca', 'cert', 'key', 'pfx', 'passphrase', 'rejectUnauthorized', 'servername'] as const;

/** Returns a function that runs the plugin, or returns its credentials if they have not expired. */
function pluginRuns(plugin: Plugin): (signal: AbortSignal) => Promise<PluginCredentials> {
  let last: PluginCredentials | undefined;
  return async (signal) => {
    if (last === undefined || (last.expiresMs ?? Infinity) <= asyncScheduler.now()) {
      last = await runPlugin(plugin, signal);
    }
    return last;
  };
}

/** The last token that was read from a file and that no server has refused. */
interface LastToken {
  token?: string;
}

/**
 * Reads the token file of a user. As in client-go, the last token that was read replaces a file that is empty or cannot
 * be read, for example while it is written, and so does `token`. Without them the request must not become anonymous.
 */
async function tokenOf(
  { name, token, tokenFile = '' }: FullUser,
  last: LastToken,
): Promise<string> {
  const instead = last.token ?? token;
  try {
    const read = (await readFile(tokenFile, 'utf8')).trim();
    if (read !== '') {
      last.token = read;
      return read;
    }
  } catch (error) {
    if (!instead) throw error;
  }
  if (instead) return instead.trim();
  const text = `the token file of user '${name}' is empty: ${tokenFile}`;
  throw ApiError.local('Credentials', shownText(text));
}

/** Reads the credentials of a user, without the answer of its plugin. */
async function configured(config: LoadedConfig, last: LastToken): Promise<Credentials> {
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    // A token that an authenticator has read from a file ends with a newline.
    if (value !== undefined) headers[name.toLowerCase()] = bytesOf(String(value).trim());
  }
  const user: FullUser | null = config.getCurrentUser();
  if (user?.tokenFile) headers.authorization = `Bearer ${bytesOf(await tokenOf(user, last))}`;
  if (user?.username) {
    // client-node would send a missing password as 'undefined'.
    const pair = `${user.username}:${user.password ?? ''}`;
    headers.authorization = `Basic ${Buffer.from(pair).toString('base64')}`;
  }
  for (const [name, [only, ...more]] of Object.entries(user?.impersonation ?? {})) {
    if (only !== undefined && more.length === 0) headers[name] = only;
  }
  const tls: Record<string, unknown> = {};
  for (const name of TLS) if (options[name] !== undefined) tls[name] = options[name];
  return { headers, tls };
}

/** Adds what a plugin answered. */
function withAnswer(own: Credentials, { token, cert, key }: PluginCredentials): Credentials {
  return {
    headers:
      token === undefined
        ? own.headers
        : { ...own.headers, authorization: `Bearer ${bytesOf(token.trim())}` },
    tls: cert === undefined || key === undefined ? own.tls : { ...own.tls, cert, key },
  };
}

/** Describes a failure without quoting it, because a parser's excerpt of a file contains secrets. */
function failure(config: LoadedConfig, error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const { code, path } = error as { code?: unknown; path?: unknown };
  const at = typeof path === 'string' ? `: ${path}` : '';
  const why = typeof code === 'string' && /^[A-Z][A-Z0-9_]*$/.test(code) ? ` (${code}${at})` : '';
  const user = config.getCurrentUser()?.name ?? '';
  const text = `the credentials of user '${user}' failed${why}; try the same with kubectl`;
  return ApiError.local('Credentials', shownText(text));
}

function late(timeoutMs: number): ApiError {
  const text = `no credentials were returned within ${timeoutMs / 1000} s; does a credential plugin wait for a login?`;
  return ApiError.local('Credentials', text);
}

/**
 * Reads the credentials of the current user: with `applyToHTTPSOptions`, which client-node's `KubeConfig` also has, and from its plugin. A
 * plugin that has not answered after `execTimeoutMs` is ended.
 */
export function kubeConfigCredentials(
  kubeConfig: LoadedConfig,
  execTimeoutMs: number,
): CredentialSource {
  const { plugin }: FullUser = kubeConfig.getCurrentUser() ?? { name: '' };
  let config = kubeConfig;
  let answer = plugin && pluginRuns(plugin);
  let last: LastToken = {};
  let known: { credentials: Credentials; atMs: number } | undefined;
  let inFlight: Observable<Credentials> | undefined;
  /** Drops what client-node and the plugin have returned, which they would keep until it expires. */
  const forget = () => {
    config = copy(config);
    answer = plugin && pluginRuns(plugin);
  };

  const read = (): Observable<Credentials> => {
    const from = config;
    const asked = answer;
    const reading = new Observable<Credentials>((subscriber) => {
      const abort = new AbortController();
      const own = configured(from, last);
      const all = asked
        ? Promise.all([own, asked(abort.signal)]).then(([each, more]) => withAnswer(each, more))
        : own;
      all.then(
        (found) => {
          // The same credentials stay the same object, so that a late 401 is known to refuse them.
          const credentials =
            known && isDeepStrictEqual(found, known.credentials) ? known.credentials : found;
          // Credentials are not kept if earlier ones were refused while these were requested.
          if (from === config) known = { credentials, atMs: performance.now() };
          subscriber.next(credentials);
          subscriber.complete();
        },
        (error) => {
          // The end of a plugin that nobody waits for is no reason to drop the answer of the next one.
          if (from === config && !subscriber.closed) forget();
          subscriber.error(failure(from, error));
        },
      );
      subscriber.add(
        longTimer(execTimeoutMs, asyncScheduler).subscribe(() =>
          subscriber.error(late(execTimeoutMs)),
        ),
      );
      return () => abort.abort();
    }).pipe(
      finalize(() => {
        if (inFlight === reading) inFlight = undefined;
      }),
      share(),
    );
    return reading;
  };
  return {
    current() {
      if (known !== undefined && performance.now() - known.atMs < FRESH_MS) {
        return known.credentials;
      }
      inFlight ??= read();
      return inFlight;
    },
    refused(credentials) {
      const user = config.getCurrentUser();
      const { certFile, keyFile, tokenFile, authProvider }: FullUser = user ?? { name: '' };
      const files = certFile ?? keyFile ?? tokenFile ?? plugin ?? authProvider;
      if (!files && addedTo(config).length === 0) return false;
      // If many requests are refused together, only the first drops the credentials.
      if (known?.credentials === credentials) {
        known = undefined;
        inFlight = undefined;
        last = {};
        forget();
      }
      return true;
    },
  };
}
