/// <reference types="node" />
/**
 * The sources of a kubeconfig. The types of `@kubernetes/client-node` are not used here, because that package is
 * optional, and its declarations import a package without types, so that a program with `skipLibCheck: false` would
 * not compile.
 */
import type { RequestOptions } from 'node:https';

/** The part of client-node's `KubeConfig` that this library checks. An instance of that class is needed. */
export interface KubeConfigLike {
  readonly clusters: readonly { readonly name: string; readonly server: string }[];
  readonly users: readonly { readonly name: string }[];
  readonly contexts: readonly {
    readonly name: string;
    readonly cluster: string;
    readonly user: string;
  }[];
  readonly currentContext: string;
  applyToHTTPSOptions(options: RequestOptions): Promise<void>;
}

/** Selects a kubeconfig and a context. */
export interface KubeConfigSource {
  /** The path of a kubeconfig. Paths in the file are relative to its folder. */
  readonly file?: string | undefined;
  /**
   * The text of a kubeconfig, in YAML or JSON. Paths in it are relative to the working directory, but the command of
   * a plugin must not be relative.
   */
  readonly text?: string | undefined;
  /**
   * A `KubeConfig` of client-node. It lacks the fields that client-node does not know: `as-groups`, `as-uid` and
   * `as-user-extra`.
   */
  readonly config?: KubeConfigLike | undefined;
  /** The context to use. @defaultValue the `current-context` of the kubeconfig */
  readonly context?: string | undefined;
  /**
   * Whether somebody wrote the kubeconfig whom this process must not obey, such as a user who uploads it. A context whose cluster or
   * user names a plugin, an auth-provider, a file or a proxy is then refused, before anything is run, read or sent. The
   * address of the server is not checked: it may be one that only this machine reaches. @defaultValue false
   */
  readonly untrusted?: boolean | undefined;
}
