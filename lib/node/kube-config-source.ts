/// <reference types="node" />
/**
 * Where a kubeconfig comes from. The types of `@kubernetes/client-node` do not stand in it: that package is optional,
 * and its declarations import one that has none, so a program with `skipLibCheck: false` would not compile.
 */
import type { RequestOptions } from 'node:https';

/** The part of client-node's `KubeConfig` by which one is recognized; an instance of that class is needed. */
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

/** Which kubeconfig. */
export interface KubeConfigSource {
  /** Path of a kubeconfig; paths in it are relative to its folder. */
  readonly file?: string | undefined;
  /** A kubeconfig, YAML or JSON; paths in it are relative to the working directory, but a plugin's must not be relative. */
  readonly text?: string | undefined;
  /** A `KubeConfig` of client-node, with the fields that it knows: not `as-groups`, `as-uid` and `as-user-extra`. */
  readonly config?: KubeConfigLike | undefined;
  /** @defaultValue its `current-context` */
  readonly context?: string | undefined;
}
