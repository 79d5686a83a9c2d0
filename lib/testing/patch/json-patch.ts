/**
 * JSON Patch, RFC 6902, as kube-apiserver reads it: a `replace` of a member that is not there adds it, a `copy`
 * from nowhere copies null, a `test` for null passes on what is missing. All else that RFC 6902 refuses is refused.
 */
import type { JsonPatchOperation } from '../../client/patch.ts';
import { type Fields, isFields } from '../../meta/json-fields.ts';
import { deepEqual } from '../deep-equal.ts';

/** Thrown where an operation cannot be done. */
export class JsonPatchFailure extends Error {
  override readonly name = 'JsonPatchFailure';
}

const INDEX = /^(0|[1-9][0-9]*)$/;

function pathOf(pointer: unknown): string[] {
  if (typeof pointer !== 'string' || (pointer !== '' && !pointer.startsWith('/'))) {
    throw new JsonPatchFailure(`no JSON pointer: ${JSON.stringify(pointer)}`);
  }
  const path = pointer
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  // No object of an API has such a member, and setting it by assignment would set a prototype.
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

/** Refuses a path whose parent is missing, or that names no item. */
function check(document: unknown, path: readonly string[], room: 0 | 1): void {
  const parent = find(document, path.slice(0, -1));
  const last = path.at(-1) ?? '';
  if (Array.isArray(parent)) {
    if (room === 1 && last === '-') return;
    if (INDEX.test(last) && Number(last) < parent.length + room) return;
  } else if (isFields(parent)) return;
  throw new JsonPatchFailure(`the path /${path.join('/')} leads nowhere`);
}

/** `document` with `change` made to the copy of what holds the end of `path`. `check` was asked before. */
function withChange(
  document: unknown,
  [name = '', ...rest]: readonly string[],
  change: (parent: unknown[] | Fields, name: string) => void,
): unknown {
  const copy = Array.isArray(document) ? [...document] : { ...(document as Fields) };
  if (rest.length === 0) change(copy, name);
  else {
    const fields = copy as Fields;
    fields[name] = withChange(fields[name], rest, change);
  }
  return copy;
}

function add(document: unknown, pointer: string, value: unknown): unknown {
  const path = pathOf(pointer);
  if (path.length === 0) return value;
  check(document, path, 1);
  return withChange(document, path, (parent, name) => {
    if (!Array.isArray(parent)) parent[name] = value;
    else parent.splice(name === '-' ? parent.length : Number(name), 0, value);
  });
}

function remove(document: unknown, pointer: string): unknown {
  const path = pathOf(pointer);
  if (path.length === 0 || find(document, path) === undefined) {
    throw new JsonPatchFailure(`nothing to remove at ${pointer}`);
  }
  return withChange(document, path, (parent, name) => {
    if (Array.isArray(parent)) parent.splice(Number(name), 1);
    else delete parent[name];
  });
}

function replace(document: unknown, pointer: string, value: unknown): unknown {
  const path = pathOf(pointer);
  if (path.length === 0) return value;
  check(document, path, 0);
  return withChange(document, path, (parent, name) => {
    (parent as Fields)[name] = value;
  });
}

function apply(document: unknown, operation: JsonPatchOperation): unknown {
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
export function jsonPatch(document: unknown, operations: readonly JsonPatchOperation[]): unknown {
  return operations.reduce(apply, document);
}
