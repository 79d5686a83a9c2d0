/// <reference types="node" />
/**
 * Loads modules of Node without an import, because bundlers for browsers fail on an import of `node:http`, even on a
 * dynamic one. Node has `process.getBuiltinModule` since 22.3 for this purpose.
 */

interface NodeModules {
  readonly 'node:http': typeof import('node:http');
  readonly 'node:net': typeof import('node:net');
}

/** Returns the module. Throws outside Node, with an error that names `caller`. */
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
