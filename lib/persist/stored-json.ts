/**
 * The JSON of an object as it is stored: without managed fields, without the applied configuration, and without values of
 * variables. Each member of the object is on a line of its own. No other byte of the JSON is a line break, so a reader can
 * find a member without reading the members before it.
 */
import type { Decoding } from '../decode/decoding.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';

const APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
const encoder = /* @__PURE__ */ new TextEncoder();

type Fields = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}

/** A value without the values of `env` lists at any depth; the same value if it has none. */
function withoutEnv(value: unknown, member = ''): unknown {
  if (!isObject(value)) return value;
  if (Array.isArray(value)) {
    let changed = false;
    const items = value.map((item: unknown) => {
      const without =
        member === 'env' && isObject(item) && 'value' in item
          ? { ...item, value: undefined }
          : withoutEnv(item);
      changed ||= without !== item;
      return without;
    });
    return changed ? items : value;
  }
  let copy: Record<string, unknown> | undefined;
  for (const name of Object.keys(value)) {
    const had = value[name];
    const without = withoutEnv(had, name);
    if (without === had) continue;
    copy ??= { ...value };
    copy[name] = without;
  }
  return copy ?? value;
}

/** The JSON of an object, as bytes. */
export function storedJson(object: KubernetesObject, env: 'stored' | 'left-out'): Uint8Array {
  const { managedFields, annotations, ...metadata } = (object.metadata ?? {}) as Fields;
  let kept: unknown = object;
  if (managedFields !== undefined || (isObject(annotations) && APPLIED in annotations)) {
    const { [APPLIED]: _applied, ...others } = (annotations ?? {}) as Fields;
    const shown = annotations === undefined ? {} : { annotations: others };
    kept = { ...object, metadata: { ...metadata, ...shown } };
  }
  const stored = env === 'stored' ? kept : withoutEnv(kept);
  const members: string[] = [];
  for (const [name, value] of Object.entries(stored as object)) {
    const json = JSON.stringify(value);
    if (json !== undefined) members.push(`${JSON.stringify(name)}:${json}`);
  }
  return encoder.encode(`{${members.join(',\n')}}`);
}

/** Reads stored objects with the decoding of their collection. Throws if one is damaged. */
export function readStored<T extends KubernetesObject>(
  part: readonly Uint8Array[],
  decoding?: Pick<Decoding, 'stored'>,
): readonly T[] {
  const decoder = new TextDecoder();
  const objects =
    decoding?.stored?.(part) ?? part.map((json): unknown => JSON.parse(decoder.decode(json)));
  // Whoever can write the store may have stored something else.
  if ((objects as (T | null)[]).every((each) => typeof each?.metadata?.name === 'string')) {
    return objects as readonly T[];
  }
  throw new Error('a stored object has no name');
}
