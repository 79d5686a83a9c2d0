/** The objects that actions change. */
import type { KubernetesObject } from 'rx-informer';

/** A template of Pods, as far as the actions read it. */
export interface Template {
  metadata?: { labels?: Record<string, string>; annotations?: Record<string, string> };
  spec?: { readonly containers?: readonly { readonly image?: string }[] };
}

/** An object, as far as the actions read it. */
export interface Target extends KubernetesObject {
  spec?: { replicas?: number; unschedulable?: boolean; template?: Template };
}
