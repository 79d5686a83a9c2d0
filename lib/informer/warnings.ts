/** What an informer warns of: nothing failed, but somebody should know. */

/** A warning, in words and in parts. */
export interface InformerWarning {
  /**
   * `slow-handler`: a callback took long while much waits; told once until its queue is empty again.
   * `resync-raised`: the period of a handler that was added to a running informer is below the informer's.
   */
  readonly type: 'slow-handler' | 'resync-raised';
  /** The informer's name. */
  readonly informer: string;
  /** The handler's name. */
  readonly subscriber: string;
  readonly message: string;
  readonly key?: string;
  readonly tookMs?: number;
  /** Changes that wait for the handler. */
  readonly pending?: number;
}

/** Who hears warnings when nobody asked for them. */
export function printWarning({ informer, message }: InformerWarning): void {
  console.warn(`${informer}: ${message}`);
}
