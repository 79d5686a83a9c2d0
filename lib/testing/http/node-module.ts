/// <reference types="node" />
/**
 * Modules of Node, without an import: a bundler for browsers stops at an import of `node:http`, also at a dynamic one.
 * `process.getBuiltinModule` is made for this, and Node has it from 22.3 on.
 */

interface NodeModules {
  readonly 'node:http': typeof import('node:http');
  readonly 'node:net': typeof import('node:net');
}

/** Throws outside of Node; `caller` is the function that the error names. */
export function nodeModule<Name extends keyof NodeModules>(
  name: Name,
  caller: string,
): NodeModules[Name] {
  const found: NodeModules[Name] | undefined = globalThis.process?.getBuiltinModule?.(name);
  if (found !== undefined) return found;
  throw new Error(
    `${caller}: this runtime has no module '${name}'. Listening on a port needs Node.js 22.19 or newer; in a page, give the fake server's \`fetch\` to createClient instead.`,
  );
}
