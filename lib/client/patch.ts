/**
 * The patch types, with the content type of each. A JSON Patch is a list of steps (RFC 6902), a merge patch is a part
 * of the object (RFC 7386), and a strategic merge patch also merges keyed lists. Custom resources do not support
 * strategic merge patches.
 */

import { refusal } from '../checks/checked-option.ts';

/** One step of a JSON Patch. `path` and `from` are JSON Pointers: `/metadata/labels/app`. */
export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly from: string; readonly path: string };

/** `T` with all fields optional, at every depth. In a merge patch `null` removes a field. */
export type DeepPartial<T> = T extends readonly (infer Item)[]
  ? DeepPartial<Item>[]
  : T extends object
    ? { [Field in keyof T]?: DeepPartial<T[Field]> | null }
    : T;

/** The directives of a strategic merge patch. A map of strings cannot contain them. */
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

/** The patch of {@link ResourceClient.patch}. */
export type Patch<T> =
  | { readonly json: readonly JsonPatchOperation[] }
  | { readonly merge: DeepPartial<T> }
  | { readonly strategic: StrategicPatch<T> };

/** A patch as a request body. */
export interface PatchBody {
  readonly contentType: string;
  readonly body: unknown;
}

const CONTENT_TYPES = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
} as const;

/** Throws a `TypeError` on a patch of an unknown form, or of several. */
export function patchBody(given: Patch<unknown>): PatchBody {
  // undefined and null have no form either.
  const patch = Object(given) as Readonly<Record<string, unknown>>;
  const [form, other] = Object.entries(CONTENT_TYPES).filter(([name]) => patch[name] !== undefined);
  if (form !== undefined && other === undefined) {
    return { contentType: form[1], body: patch[form[0]] };
  }
  const must = '{ json: steps }, { merge: part } or { strategic: part }';
  throw refusal('patch: the patch', given, must);
}

/**
 * Returns the JSON Pointer (RFC 6901) of names, which may contain any character.
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
