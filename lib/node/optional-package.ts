/// <reference types="node" />
/** Packages that only some need: loaded when they are used, and asked for by name when they are not there. */

/** Loads a package; rejects with a `TypeError` that says what to install. */
export async function needed<M>(what: string, name: string, load: () => Promise<M>): Promise<M> {
  try {
    return await load();
  } catch (error) {
    const { code, message = '' } = error as { code?: unknown; message?: string };
    if (code !== 'ERR_MODULE_NOT_FOUND' || !message.includes(name)) throw error;
    throw new TypeError(`${what} needs the package '${name}': npm install --save-dev ${name}`);
  }
}
