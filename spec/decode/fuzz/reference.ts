/** The reference: `JSON.parse` of whole lines and items, and the checks of the admission. */
import type { DecodeContext } from 'rx-informer';
import { type Admitted, createAdmission, KindTally } from '../../../lib/decode/admission.ts';
import type { Anything } from '../decoder.ts';

/** An event as it is compared. */
export type Shown = Record<string, unknown>;

export interface Expected {
  readonly shown: Shown[];
  /** Whether the body is refused from here on. */
  readonly failed: boolean;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Returns the parsed text; `undefined` if it is not JSON. */
export function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch {
    return undefined;
  }
}

export class Reference {
  readonly #context: DecodeContext<Anything>;
  readonly #admit: (received: unknown, deleted?: boolean) => Admitted<Anything>;

  constructor(context: DecodeContext<Anything>) {
    this.#context = context;
    this.#admit = createAdmission({ ...context, onRefused: () => undefined }, new KindTally());
  }

  line(bytes: Uint8Array): Expected {
    const event = parsed(bytes) as { type?: unknown; object?: Anything } | null | undefined;
    if (event === undefined) return { shown: [], failed: true };
    const { type, object: received } = event ?? {};
    const isObject = type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED';
    if (!isObject && type !== 'BOOKMARK') return { shown: [], failed: false };
    const { projection } = this.#context;
    if (projection !== undefined && received?.kind !== projection.eventKind) {
      return { shown: [], failed: true };
    }
    if (!isObject) return { shown: [], failed: false };
    const admitted = this.#admit(received, type === 'DELETED');
    if (admitted.verdict === 'dropped') return { shown: [], failed: false };
    if (admitted.verdict === 'refused') {
      const { key, resourceVersion } = admitted.refused;
      return {
        shown: [{ type: type === 'DELETED' ? type : 'REFUSED', key, resourceVersion }],
        failed: false,
      };
    }
    const { key, object } = admitted;
    return { shown: [{ type, key, object }], failed: false };
  }

  /**
   * An item of a list: the admitted object, or the UID and version of one that is not admitted. A type is put first unless
   * the item begins with its own.
   */
  item(text: string): { readonly admitted: Anything } | { readonly refused: readonly unknown[] } {
    const { kind, apiVersion } = this.#context.projection ?? this.#context.resource;
    const own = /^\{\s*"(?:kind|apiVersion)"/.test(text) || /^\{\s*\}/.test(text);
    const type = `{"kind":${JSON.stringify(kind === '' ? 'Pod' : kind)},"apiVersion":${JSON.stringify(apiVersion)},`;
    const received = JSON.parse(own ? text : type + text.slice(1)) as Anything;
    // Read first, because the admission changes the object.
    const identity = identityOf(received);
    const admitted = this.#admit(received);
    return admitted.verdict === 'admitted' ? { admitted: admitted.object } : { refused: identity };
  }
}

/** The UID and version of an object, as far as it has them. */
export function identityOf({ metadata }: Anything): readonly unknown[] {
  return [metadata?.uid, metadata?.resourceVersion];
}
