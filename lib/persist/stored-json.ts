/**
 * The JSON of an object as it is stored: without managed fields, without the applied configuration, and without values of
 * variables. Each member of the object is on a line of its own. No other byte of the JSON is a line break, so a reader can
 * find a member without reading the members before it.
 */
import type { Decoding } from '../decode/decoding.ts';
import { utf8 } from '../decode/utf8.ts';
import { ApiError } from '../meta/api-error.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { unreadText } from '../meta/same-content.ts';
import { deepJson } from './deep-json.ts';
import type { SnapshotChange, StoredSnapshot } from './snapshot-store.ts';

const APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

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

/** The metadata without managed fields and without the applied configuration. */
function keptMetadata(value: unknown): unknown {
  if (!isObject(value)) return value;
  const { managedFields, annotations, ...metadata } = value;
  const isApplied = isObject(annotations) && APPLIED in annotations;
  if (managedFields === undefined && !isApplied) return value;
  const { [APPLIED]: _applied, ...others } = (annotations ?? {}) as Fields;
  return { ...metadata, ...(annotations !== undefined && { annotations: others }) };
}

/** The JSON of a member; `undefined` if it has none. A member that was not read stays unread, because its value needs memory. */
function memberJson(object: object, name: string, env: 'stored' | 'left-out'): string | undefined {
  const text = unreadText(object, name);
  if (text !== undefined && env === 'stored' && !text.includes('\n')) return text;
  let value = text === undefined ? (object as Fields)[name] : parsed(text);
  if (name === 'metadata') value = keptMetadata(value);
  try {
    return JSON.stringify(env === 'stored' ? value : withoutEnv(value, name));
  } catch (error) {
    // One object that is nested too deeply for the stack must not end the storing of its kind.
    if (!(error instanceof RangeError)) throw error;
    return deepJson(value, name, (each, member) =>
      env === 'stored' ? each : cutEnv(each, member),
    );
  }
}

/** An array without the values of its items, if it is an `env` list; any other value unchanged. */
function cutEnv(value: object, member: string): object {
  if (member !== 'env' || !Array.isArray(value)) return value;
  return value.map((item: unknown) =>
    isObject(item) && 'value' in item ? { ...item, value: undefined } : item,
  );
}

/** The value of a text; `undefined` if it is not JSON, so that nothing else is lost with this member. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The JSON of an object, as bytes. */
export function storedJson(object: KubernetesObject, env: 'stored' | 'left-out'): Uint8Array {
  const members: string[] = [];
  for (const name of Object.keys(object)) {
    const json = memberJson(object, name, env);
    if (json !== undefined) members.push(`${JSON.stringify(name)}:${json}`);
  }
  return utf8(`{${members.join(',\n')}}`);
}

/** Objects by key as they are stored, each made when it is read. */
function* storedObjects(
  objects: readonly (readonly [string, KubernetesObject])[],
  env: 'stored' | 'left-out',
): Iterable<readonly [string, Uint8Array]> {
  for (const [key, object] of objects) yield [key, storedJson(object, env)];
}

/** The states of these keys as they are stored. The objects are taken now, and serialized when they are read. */
export function storedStates(
  keys: Iterable<string>,
  get: (key: string) => KubernetesObject | undefined,
  env: 'stored' | 'left-out',
): Pick<SnapshotChange, 'objects' | 'deleted'> {
  const objects: [string, KubernetesObject][] = [];
  const deleted: string[] = [];
  for (const key of keys) {
    const object = get(key);
    if (object === undefined) deleted.push(key);
    else objects.push([key, object]);
  }
  return { objects: storedObjects(objects, env), deleted };
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

/** Reads the parts of a stored collection. `onPart` is called before each, `onDamage` before it throws. */
export async function* readParts<T extends KubernetesObject>(
  parts: StoredSnapshot['parts'],
  decoding: Pick<Decoding, 'stored'> | undefined,
  { onPart, onDamage }: { onPart(): void; onDamage(why: string): void },
): AsyncGenerator<readonly T[]> {
  try {
    for await (const part of parts) {
      onPart();
      yield readStored<T>(part, decoding);
    }
  } catch (error) {
    onDamage(ApiError.from(error, 'the store is damaged').message);
    throw error;
  }
}
