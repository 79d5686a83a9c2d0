/**
 * JSON Patch, RFC 6902, with the exceptions of kube-apiserver: a `replace` of a missing member adds it, a `copy` of a
 * missing member copies null, and a `test` for null passes if the member is missing. Otherwise RFC 6902 applies.
 */
import type { JsonPatchOperation } from '../../client/patch.ts';
import { type Fields, isFields } from '../../meta/json-fields.ts';
import { deepEqual } from '../deep-equal.ts';

/** An operation cannot be applied. */
export class JsonPatchFailure extends Error {
  override readonly name = 'JsonPatchFailure';
}

const INDEX = /^(0|[1-9][0-9]*)$/;

function pathOf(pointer: unknown): string[] {
  if (typeof pointer !== 'string' || (pointer !== '' && !pointer.startsWith('/'))) {
    throw new JsonPatchFailure(`invalid JSON pointer: ${JSON.stringify(pointer)}`);
  }
  const path = pointer
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  // API objects have no such member, and assigning to it would set a prototype.
  if (path.includes('__proto__')) throw new JsonPatchFailure('the path contains __proto__');
  return path;
}

/** Returns the value at a path, by own members and items, or `undefined` if there is none. */
function find(document: unknown, path: readonly string[]): unknown {
  let value = document;
  for (const name of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    if (Array.isArray(value) ? !INDEX.test(name) : !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

/** Refuses a path whose parent is missing or whose index is out of range. `extra` is 1 if one past the end is valid. */
function check(document: unknown, path: readonly string[], extra: 0 | 1): void {
  const parent = find(document, path.slice(0, -1));
  const last = path.at(-1) ?? '';
  if (Array.isArray(parent)) {
    if (extra === 1 && last === '-') return;
    if (INDEX.test(last) && Number(last) < parent.length + extra) return;
  } else if (isFields(parent)) return;
  throw new JsonPatchFailure(`the path /${path.join('/')} does not exist`);
}

/** Copies `document` and applies `change` to the copied parent of `path`. The path must have passed `check`. */
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
      throw new JsonPatchFailure(`unknown operation: ${JSON.stringify(op)}`);
  }
}

/** Returns `document` after all operations. Throws a {@link JsonPatchFailure} at the first that cannot be applied. */
export function jsonPatch(document: unknown, operations: readonly JsonPatchOperation[]): unknown {
  return operations.reduce(apply, document);
}
