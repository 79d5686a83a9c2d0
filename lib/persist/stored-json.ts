/**
 * The JSON of an object as it is stored: without managed fields, without the applied configuration, and without values of
 * variables.
 */
import { utf8 } from '../decode/utf8.ts';
import { ApiError } from '../meta/api-error.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { deepJson } from './deep-json.ts';
import type { SnapshotChange, StoredSnapshot } from './snapshot-store.ts';

const APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

type Fields = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}

/** The names under which kinds have variables: `env`, `envVars`, `extraEnv`, `environment`. */
const VARIABLES = /(?:^e|E)nv(?:s|ironment|[vV]ars?|Variables)?$/;

/** The name of a variable without its value: of `{ name, value }`, `[name, value]` and `name=value`. */
function withoutValue(item: unknown): unknown {
  if (typeof item === 'string') return item.split('=', 1)[0];
  if (Array.isArray(item)) return typeof item[0] === 'string' ? item.slice(0, 1) : item;
  return isObject(item) && 'value' in item ? { ...item, value: undefined } : item;
}

const isText = (value: unknown) => typeof value !== 'object' || value === null;

/** A member, whose name is known, without what is never stored in the member itself; `undefined` if nothing is left. */
function keptMember(name: string, value: unknown, env: 'stored' | 'left-out'): unknown {
  if (name === APPLIED || (name === 'managedFields' && Array.isArray(value))) return undefined;
  if (env === 'stored' || !isObject(value) || !VARIABLES.test(name)) return value;
  if (Array.isArray(value)) {
    const names = value.map(withoutValue);
    return names.some((each, at) => each !== value[at]) ? names : value;
  }
  // A map from names to values. An `environment` with fields is none.
  if (name === 'environment' || !Object.values(value).every(isText)) return value;
  return Object.fromEntries(Object.keys(value).map((each) => [each, '']));
}

/**
 * A value without managed fields, applied configurations and, with `left-out`, values of variables, at any depth; the same value
 * if it has none. `name` is that of the member that has the value.
 */
export function keptOf(name: string, value: unknown, env: 'stored' | 'left-out'): unknown {
  const kept = keptMember(name, value, env);
  if (!isObject(kept)) return kept;
  if (Array.isArray(kept)) {
    const items = kept.map((item: unknown) => keptOf('', item, env));
    return items.some((each, at) => each !== kept[at]) ? items : kept;
  }
  let copy: Record<string, unknown> | undefined;
  for (const each of Object.keys(kept)) {
    const had = kept[each];
    const without = keptOf(each, had, env);
    if (without === had) continue;
    copy ??= { ...kept };
    copy[each] = without;
  }
  return copy ?? kept;
}

/** The JSON of a member; `undefined` if it has none. */
function memberJson(name: string, value: unknown, env: 'stored' | 'left-out'): string | undefined {
  try {
    if (env === 'left-out' || name === 'metadata') return JSON.stringify(keptOf(name, value, env));
    const json = JSON.stringify(value);
    return json !== undefined && hasUnkept(json) ? JSON.stringify(keptOf(name, value, env)) : json;
  } catch (error) {
    // One object that is nested too deeply for the stack must not end the storing of its kind.
    if (!(error instanceof RangeError)) throw error;
    return deepJson(value, name, (each, member) => keptMember(member, each, env));
  }
}

/** Whether a JSON text may have a part that is never stored. */
function hasUnkept(json: string): boolean {
  return json.includes(APPLIED) || json.includes('"managedFields"');
}

/** The JSON of an object, as bytes. */
export function storedJson(object: KubernetesObject, env: 'stored' | 'left-out'): Uint8Array {
  const members: string[] = [];
  for (const [name, value] of Object.entries(object)) {
    const json = memberJson(name, value, env);
    if (json !== undefined) members.push(`${JSON.stringify(name)}:${json}`);
  }
  return utf8(`{${members.join(',')}}`);
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

/** Reads stored objects. Throws if one is damaged. */
export function readStored<T extends KubernetesObject>(part: readonly Uint8Array[]): readonly T[] {
  const decoder = new TextDecoder();
  const objects = part.map((json) => JSON.parse(decoder.decode(json)) as T | null);
  // Whoever can write the store may have stored something else.
  if (objects.every((each) => typeof each?.metadata?.name === 'string')) {
    return objects as readonly T[];
  }
  throw new Error('a stored object has no name');
}

/** Reads the parts of a stored collection. `onPart` is called before each, `onDamage` before it throws. */
export async function* readParts<T extends KubernetesObject>(
  parts: StoredSnapshot['parts'],
  { onPart, onDamage }: { onPart(): void; onDamage(why: string): void },
): AsyncGenerator<readonly T[]> {
  try {
    for await (const part of parts) {
      onPart();
      yield readStored<T>(part);
    }
  } catch (error) {
    onDamage(ApiError.from(error, 'the store is damaged').message);
    throw error;
  }
}
