/** Runs a project with Vite: in its development server, or built and served. */
import { build, createServer, type Plugin, preview } from 'vite';

const CONDITIONS = ['rx-informer-source', 'module', 'browser', 'development'];

/** A project that runs. */
export interface RunningProject extends AsyncDisposable {
  readonly url: string;
}

/** Starts the development server of a project. */
export async function develop(root: string): Promise<RunningProject> {
  const vite = await createServer({
    root,
    cacheDir: `${root}.vite`,
    // Bundled, the configuration would not find the sources of the library.
    configLoader: 'native',
    logLevel: 'error',
    resolve: { conditions: CONDITIONS },
    server: { port: 0, host: '127.0.0.1' },
  });
  await vite.listen();
  const url = vite.resolvedUrls?.local[0] ?? '';
  return { url, [Symbol.asyncDispose]: () => vite.close() };
}

/** The projects that were built, by their folders. */
const built = new Map<string, Promise<unknown>>();

/** Serves a project, which is built for the first page. */
export async function publish(
  root: string,
  plugins: readonly Plugin[] = [],
): Promise<RunningProject> {
  const options = { root, configLoader: 'native', logLevel: 'error' } as const;
  const building = built.get(root) ?? build({ ...options, resolve: { conditions: CONDITIONS } });
  built.set(root, building);
  await building;
  const settings = { port: 0, host: '127.0.0.1', allowedHosts: ['rebound.example'] };
  const vite = await preview({ ...options, preview: settings, plugins: [...plugins] });
  const url = vite.resolvedUrls?.local[0] ?? '';
  return { url, [Symbol.asyncDispose]: () => vite.close() };
}
