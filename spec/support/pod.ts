/** Simulates the files and variables of a pod: redirects reads of the folder of the service account to another folder. */
import fs from 'node:fs';
import { stripTypeScriptTypes, syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';

const FROM = '/var/run/secrets/kubernetes.io/serviceaccount';

/** A function that reads a path. */
type Read = (path: unknown, ...more: unknown[]) => unknown;

const READS: readonly (readonly [owner: object, name: string])[] = [
  ...['existsSync', 'readFileSync', 'statSync'].map((name) => [fs, name] as const),
  ...['readFile', 'stat', 'access'].map((name) => [fs.promises, name] as const),
];

/** Redirects the reads of this process. Call the returned function to end that. */
export function redirectServiceAccount(folder: string): () => void {
  const former = READS.map(([owner, name]) => (owner as Record<string, Read>)[name] as Read);
  const write = (at: number, read: Read) => {
    const [owner, name] = READS[at] ?? [{}, ''];
    (owner as Record<string, Read>)[name] = read;
  };
  for (const [at, read] of former.entries()) {
    write(at, (path, ...more) => {
      const isInside = typeof path === 'string' && path.startsWith(FROM);
      return read(isInside ? join(folder, path.slice(FROM.length)) : path, ...more);
    });
  }
  syncBuiltinESMExports();
  return () => {
    for (const [at, read] of former.entries()) write(at, read);
    syncBuiltinESMExports();
  };
}

/**
 * The text of a module that lets the program after it run in a pod (`node --import FILE`): with the files of the folder, and
 * without a kubeconfig.
 */
export function podModule(folder: string, port: number): string {
  const variables = {
    KUBERNETES_SERVICE_HOST: '127.0.0.1',
    KUBERNETES_SERVICE_PORT: String(port),
    HOME: folder,
  };
  // Without types, because Node would need 20 MB to remove them.
  const own = stripTypeScriptTypes(fs.readFileSync(import.meta.filename, 'utf8'));
  return `${own}
redirectServiceAccount(${JSON.stringify(folder)});
delete process.env.KUBECONFIG;
Object.assign(process.env, ${JSON.stringify(variables)});
`;
}
