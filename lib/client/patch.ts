/**
 * The ways to say what is to change in an object, each with the content type by which a server knows it. A
 * JSON Patch lists steps (RFC 6902), a merge patch is a part of the object (RFC 7386), a strategic merge patch
 * also knows which lists are keyed; custom resources do not take the last.
 */

/** One step of a JSON Patch; `path` and `from` are JSON Pointers: `/metadata/labels/app`. */
export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly from: string; readonly path: string };

/** `T` with everything optional, at every depth; in a merge patch `null` takes a field away. */
export type DeepPartial<T> = T extends readonly (infer Item)[]
  ? DeepPartial<Item>[]
  : T extends object
    ? { [Field in keyof T]?: DeepPartial<T[Field]> | null }
    : T;

/** What a strategic merge patch says beside values; a map of strings has no place for it. */
type StrategicDirectives<T> = string extends keyof T
  ? unknown
  : {
      readonly $patch?: 'delete' | 'merge' | 'replace';
      readonly $retainKeys?: readonly string[];
    } & {
      readonly [Field in keyof T & string as
        | `$deleteFromPrimitiveList/${Field}`
        | `$setElementOrder/${Field}`]?: readonly unknown[];
    };

/** A part of `T` with the directives of a strategic merge patch: `$patch: 'delete'`, `$retainKeys`. */
export type StrategicPatch<T> = T extends readonly (infer Item)[]
  ? StrategicPatch<Item>[]
  : T extends object
    ? { [Field in keyof T]?: StrategicPatch<T[Field]> | null } & StrategicDirectives<T>
    : T;

/** What {@link ResourceClient.patch} sends. */
export type Patch<T> =
  | { readonly json: readonly JsonPatchOperation[] }
  | { readonly merge: DeepPartial<T> }
  | { readonly strategic: StrategicPatch<T> };

/** A patch as a body. */
export interface PatchBody {
  readonly contentType: string;
  readonly body: unknown;
}

/** Throws a `TypeError` on a patch of no known form. */
export function patchBody(patch: Patch<unknown>): PatchBody {
  if ('json' in patch) return { contentType: 'application/json-patch+json', body: patch.json };
  if ('merge' in patch) return { contentType: 'application/merge-patch+json', body: patch.merge };
  if ('strategic' in patch) {
    return { contentType: 'application/strategic-merge-patch+json', body: patch.strategic };
  }
  throw new TypeError('a patch is { json: operations }, { merge: part } or { strategic: part }');
}

/**
 * A JSON Pointer (RFC 6901) of names, whatever is in them.
 *
 * @example
 * ```ts
 * import { jsonPointer } from 'rx-informer';
 *
 * jsonPointer(['metadata', 'annotations', 'example.com/owner']); // => '/metadata/annotations/example.com~1owner'
 * ```
 */
export function jsonPointer(names: readonly (string | number)[]): string {
  return names
    .map((name) => `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('');
}
