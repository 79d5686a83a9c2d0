/**
 * `rx-informer/node`: a transport over undici, clients from a kubeconfig, types from CustomResourceDefinitions, stores of
 * snapshots in files, and settings for Vite.
 */

export {
  type ForeignRequestOptions,
  foreignRequest,
  type JudgedRequest,
} from '../server/foreign-request.ts';
export type { CrdSchema } from './crd-schema.ts';
export { type CustomResourceDefinitionLike, crdTypes } from './crd-types.ts';
export { inspectKubeConfig } from './inspect-kube-config.ts';
export { clientFromKubeConfig, type KubeConfigClientOptions } from './kube-config.ts';
export type { KubeConfigLike, KubeConfigSource } from './kube-config-source.ts';
export { type FileSnapshotOptions, fileSnapshots } from './snapshots/file-snapshots.ts';
export type { DispatcherOptions, TlsOptions } from './undici/pool-options.ts';
export {
  createUndiciTransport,
  type DispatcherLike,
  type UndiciTransport,
  type UndiciTransportOptions,
} from './undici/undici-transport.ts';
export {
  type ViteProxy,
  type ViteProxyOptions,
  type ViteProxyServer,
  viteProxy,
} from './vite-proxy.ts';
