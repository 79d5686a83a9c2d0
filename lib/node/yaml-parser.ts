/// <reference types="node" />
/**
 * The YAML parser that client-node depends on, without client-node. This module is imported when it is used, because some programs run as
 * CommonJS, in which `import.meta` is a syntax error.
 */
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

/** Returns the function that parses a text, and throws an error with the position, `mark`. */
export function yamlParserAlone(): (text: string) => unknown {
  // By its path, because webpack would look for the package in `createRequire(import.meta.url)` while it bundles.
  const here = createRequire(fileURLToPath(import.meta.url));
  return createRequire(here.resolve('@kubernetes/client-node'))('js-yaml').load;
}
