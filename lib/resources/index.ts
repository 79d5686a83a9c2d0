/**
 * `rx-informer/resources`: every built-in resource of Kubernetes, with its type as on the wire. Timestamps are
 * strings, and property names are those of the JSON. A bundler keeps only the resources that are imported.
 */
export * from './generated/index.ts';
