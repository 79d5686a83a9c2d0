/** What an action is: for which kinds it is, which right it needs, and what it sends. No action waits or retries by itself. */
import {
  ApiError,
  type KubeClient,
  type KubernetesObject,
  type Resource,
  type ResourceClient,
  type Stored,
  type WriteOptions,
} from 'rx-informer';

/** A template of Pods, as far as the actions read it. */
export interface Template {
  metadata?: { labels?: Record<string, string>; annotations?: Record<string, string> };
  spec?: { readonly containers?: readonly { readonly image?: string }[] };
}

export interface Target extends KubernetesObject {
  spec?: { replicas?: number; unschedulable?: boolean; template?: Template };
}

export interface Revision {
  readonly number: number;
  readonly template: Template;
  readonly createdMs: number;
  /** Why it was made, if somebody said so, and the images. */
  readonly note: string;
}

/** What a right names of a resource. */
export type Named = Pick<Resource<never>, 'group' | 'plural'>;

/** A right that an action needs, in the words of a SelfSubjectAccessReview. */
export interface Right {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
}

/** What the user has chosen in the dialog, and when the dialog was opened. */
export interface Chosen {
  readonly atMs: number;
  readonly replicas?: number | undefined;
  readonly revision?: Revision | undefined;
}

/** The calls of an action. With `dryRun` in the options the server stores nothing. */
export interface Sending {
  readonly client: KubeClient;
  readonly calls: ResourceClient<Target>;
  readonly options: WriteOptions;
}

/** What the server has accepted, in words, and how it is taken back. */
export interface Accepted {
  readonly says: string;
  undo?(): Promise<unknown>;
}

export interface Action {
  readonly id: string;
  readonly label: string;
  readonly does: string;
  /** The resources that have it, such as `deployments.apps`. */
  readonly on: readonly string[];
  readonly asks?: 'replicas' | 'revision';
  readonly isDanger?: true;
  readonly isSingle?: true;
  /** Whether an object in this state has it. @defaultValue always */
  fits?(object: Target): boolean;
  right(resource: Named): Right;
  /** Rejects with an `ApiError`, or with {@link Unneeded}. */
  send(sending: Sending, object: Stored<Target>, chosen: Chosen): Promise<Accepted>;
}

/** The object is already as the action would make it. */
export class Unneeded extends Error {
  override readonly name = 'Unneeded';
}

/** The name of a resource with its group, as kubectl prints it. */
export function fullName({ group, plural }: Named): string {
  return group === '' ? plural : `${plural}.${group}`;
}

/** The right to patch an object. */
export const mayPatch = ({ group, plural }: Named): Right => ({
  verb: 'patch',
  group,
  resource: plural,
});

/**
 * Another writer was faster, so that going on would overwrite what the user has not seen. A conflict with the reason of a server would be
 * tried again.
 */
export function changed({ metadata }: Target, what: string): ApiError {
  const message = `${metadata?.name} ${what}`;
  return new ApiError({ code: 409, reason: 'Changed', message });
}
