/// <reference types="node" />
/**
 * The YAML parser that client-node depends on, without client-node. This module is imported when it is used, because some programs run as
 * CommonJS, in which `import.meta` is a syntax error.
 */
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

// By its path, because webpack would look for the package in `createRequire(import.meta.url)` while it bundles.
const here = createRequire(fileURLToPath(import.meta.url));
const { load } = createRequire(here.resolve('@kubernetes/client-node'))('js-yaml');

/** Parses a text. Throws an error with the position, `mark`. */
export const parseYaml: (text: string) => unknown = load;
