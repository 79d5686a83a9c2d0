/**
 * JSON Patch, RFC 6902, as kube-apiserver reads it: a `replace` of a member that is not there adds it, a `copy`
 * from nowhere copies null, a `test` for null passes on what is missing. All else that RFC 6902 refuses is refused.
 */
import {
  immutableJSONPatch,
  type JSONPatchOperation,
  parseJSONPointer,
} from 'immutable-json-patch';
import { deepEqual } from './deep-equal.ts';
import { isFields } from './patch-merge.ts';

/** Thrown where an operation cannot be done. */
export class JsonPatchFailure extends Error {
  override readonly name = 'JsonPatchFailure';
}

const INDEX = /^(0|[1-9][0-9]*)$/;

function pathOf(pointer: unknown): string[] {
  if (typeof pointer !== 'string' || (pointer !== '' && !pointer.startsWith('/'))) {
    throw new JsonPatchFailure(`no JSON pointer: ${JSON.stringify(pointer)}`);
  }
  const path = parseJSONPointer(pointer);
  // The library sets members by assignment, and this one would set a prototype.
  if (path.includes('__proto__')) throw new JsonPatchFailure('a path through __proto__');
  return path;
}

/** What a path leads to by own members and items; `undefined` where it leads nowhere. */
function find(document: unknown, path: readonly string[]): unknown {
  let value = document;
  for (const name of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    if (Array.isArray(value) ? !INDEX.test(name) : !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

/** Refuses a path whose parent is missing, or that names no item, and says whether it ends in a list. */
function check(document: unknown, path: readonly string[], room: 0 | 1): 'list' | 'object' {
  const parent = find(document, path.slice(0, -1));
  const last = path.at(-1) ?? '';
  if (Array.isArray(parent)) {
    if (room === 1 && last === '-') return 'list';
    if (INDEX.test(last) && Number(last) < parent.length + room) return 'list';
  } else if (isFields(parent)) return 'object';
  throw new JsonPatchFailure(`the path /${path.join('/')} leads nowhere`);
}

function add(document: unknown, pointer: string, value: unknown): unknown {
  const path = pathOf(pointer);
  if (path.length === 0) return value;
  check(document, path, 1);
  return immutableJSONPatch(document, [{ op: 'add', path: pointer, value }]);
}

function remove(document: unknown, pointer: string): unknown {
  const path = pathOf(pointer);
  if (path.length === 0 || find(document, path) === undefined) {
    throw new JsonPatchFailure(`nothing to remove at ${pointer}`);
  }
  return immutableJSONPatch(document, [{ op: 'remove', path: pointer }]);
}

function replace(document: unknown, pointer: string, value: unknown): unknown {
  const path = pathOf(pointer);
  if (path.length === 0) return value;
  const op = check(document, path, 0) === 'list' ? 'replace' : 'add';
  return immutableJSONPatch(document, [{ op, path: pointer, value }]);
}

function apply(document: unknown, operation: JSONPatchOperation): unknown {
  const { op, path } = operation;
  switch (op) {
    case 'add':
      return add(document, path, operation.value ?? null);
    case 'remove':
      return remove(document, path);
    case 'replace':
      return replace(document, path, operation.value ?? null);
    case 'move': {
      const value = find(document, pathOf(operation.from));
      return add(remove(document, operation.from), path, value);
    }
    case 'copy': {
      const from = pathOf(operation.from);
      if (from.length > 0) check(document, from, 0);
      return add(document, path, find(document, from) ?? null);
    }
    case 'test': {
      const at = pathOf(path);
      if (at.length > 0) check(document, at, 0);
      if (deepEqual(find(document, at) ?? null, operation.value ?? null)) return document;
      throw new JsonPatchFailure(`the test of ${path} failed`);
    }
    default:
      throw new JsonPatchFailure(`no operation: ${JSON.stringify(op)}`);
  }
}

/** What `document` is after all operations. Throws a {@link JsonPatchFailure} at the first that cannot be done. */
export function jsonPatch(document: unknown, operations: readonly JSONPatchOperation[]): unknown {
  return operations.reduce(apply, document);
}
