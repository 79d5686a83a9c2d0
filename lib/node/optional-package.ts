/// <reference types="node" />
/** The errors for optional packages that cannot be loaded when they are used. */

/** The range of `engines` in package.json. */
const OLDEST_NODE = [22, 19] as const;

function isTooOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1]);
}

/** A package that is not installed. The message names the command to install it. */
export class MissingPackage extends TypeError {
  readonly what: string;
  readonly packageName: string;

  constructor(what: string, packageName: string) {
    super(`${what} needs the package '${packageName}': npm install ${packageName}`);
    this.what = what;
    this.packageName = packageName;
  }
}

/** The name of the package that was not found, in Node, Bun or Deno. It is not always the package that was imported. */
function missingPackage(error: unknown): string | undefined {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') return undefined;
  const found = /^(?:Cannot|Could not) find (?:package|module) '([^']+)'/.exec(String(message));
  // CommonJS names the file, too: 'undici/index.js'.
  return found?.[1]?.replace(/^((?:@[^/]+\/)?[\w.-]+)\/[^/].*$/, '$1');
}

/**
 * Returns the error to throw if the `import()` of a package failed. If the package, or a package that it needs, is not
 * installed, it is a {@link MissingPackage}, a `TypeError` that names the command to install it. If this Node is too old for the package, the error
 * names the oldest Node that is supported. Other errors are returned unchanged.
 *
 * The `import()` belongs into the `try` block of the caller, because bundlers then let the package be missing.
 */
export function notLoaded(
  what: string,
  name: string,
  error: unknown,
  nodeVersion: string = process.versions.node,
): unknown {
  const missing = missingPackage(error);
  if (missing !== undefined && !/^([./\\]|[a-z]+:)/i.test(missing)) {
    return new MissingPackage(what, missing);
  }
  if (missing === undefined && isTooOld(nodeVersion)) {
    return new TypeError(
      `${what} needs Node ${OLDEST_NODE.join('.')} or newer to load the package '${name}'; this is Node ${nodeVersion}`,
    );
  }
  return error;
}
