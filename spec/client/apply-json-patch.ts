/**
 * Applies a JSON Patch by the letter of RFC 6902, for tests. It is independent of the fake API server's, so that the
 * two can disagree. Like a kube-apiserver it has one exception: a test for null passes if the member is missing. The
 * conformance suite shows that a kube-apiserver does this.
 */
import { isDeepStrictEqual } from 'node:util';
import type { JsonPatchOperation } from 'rx-informer';

type Container = Record<string, unknown> | unknown[];

/** The operations that `jsonDifference` uses: all except `move` and `copy`. */
type Used = Exclude<JsonPatchOperation, { readonly from: string }>;

function copy(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

function placeOf(document: unknown, pointer: string): [Container, string] {
  const names = pointer
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  let place = document;
  for (const name of names.slice(0, -1)) place = read(place as Container, name);
  if (typeof place !== 'object' || place === null) throw new Error(`no parent of ${pointer}`);
  return [place as Container, names.at(-1) ?? ''];
}

function read(place: Container, name: string): unknown {
  if (!Object.hasOwn(place, name)) throw new Error(`no ${JSON.stringify(name)}`);
  return (place as Record<string, unknown>)[name];
}

function put(place: Container, name: string, value: unknown): void {
  // Not by assignment, because the name may be __proto__.
  const field = { value, writable: true, enumerable: true, configurable: true };
  if (!Array.isArray(place)) Object.defineProperty(place, name, field);
  else if (name === '-' || Number(name) === place.length) place.push(value);
  else if (Number(name) < place.length) place.splice(Number(name), 0, value);
  else throw new Error(`${name} is beyond the end of the list`);
}

function take(place: Container, name: string): void {
  read(place, name);
  if (Array.isArray(place)) place.splice(Number(name), 1);
  else delete place[name];
}

/** Returns the document that a server would make. Throws if a step cannot be applied. */
export function applyJsonPatch<T>(document: T, steps: readonly JsonPatchOperation[]): T {
  const holder = { '': copy(document) as unknown };
  for (const step of steps as readonly Used[]) {
    const [place, name] = step.path === '' ? [holder, ''] : placeOf(holder[''], step.path);
    if (step.op === 'test') {
      if (step.value === null && !Object.hasOwn(place, name)) continue;
      if (!isDeepStrictEqual(copy(read(place, name)), copy(step.value)))
        throw new Error(`test ${step.path}`);
      continue;
    }
    if (step.op !== 'add' || place === holder) take(place, name);
    if (step.op !== 'remove') put(place, name, copy(step.value));
  }
  return holder[''] as T;
}
