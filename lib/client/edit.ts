/** Changes by draft: placeholder while it is written. */
import type { Draft } from 'immer';
import type { WriteOptions } from './resource-client.ts';

export type { Draft };

/** What {@link ResourceClient.edit} takes. */
export interface EditOptions extends WriteOptions {
  /** `status`: changes the status only. */
  readonly subresource?: string;
  readonly check?: 'resourceVersion' | 'uid';
}
