/**
 * Generates `lib/resources/generated` from the API of a real API server. Run it after a change of
 * `spec/e2e/apiserver/go.mod`; the end-to-end suite fails while the files differ from the server's API.
 *
 *   node --conditions=rx-informer-source spec/resources/generate.ts
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type ApiServerProcess, startApiServer } from '../e2e/apiserver.ts';
import { describeServer, reader } from './discovery.ts';
import { render } from './render.ts';

/** Stable and beta versions are generated. Alpha versions change without notice and are rarely served. */
export const generatorFlags: readonly string[] = ['--runtime-config=api/beta=true'];

/** The folder of the generated files. */
export const generatedFolder: string = fileURLToPath(
  new URL('../../lib/resources/generated/', import.meta.url),
);

/** Generates the files. Returns their texts by name. */
export async function generate(server: ApiServerProcess): Promise<Map<string, string>> {
  const { get, close } = reader(server);
  try {
    return render(await describeServer(get));
  } finally {
    await close();
  }
}

/** Reads the existing generated files. Returns their texts by name. */
export function readGenerated(): Map<string, string> {
  const names = readdirSync(generatedFolder);
  return new Map(names.map((name) => [name, readFileSync(join(generatedFolder, name), 'utf8')]));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const server = await startApiServer({ flags: generatorFlags });
  try {
    const files = await generate(server);
    rmSync(generatedFolder, { recursive: true, force: true });
    mkdirSync(generatedFolder, { recursive: true });
    for (const [name, text] of files) writeFileSync(join(generatedFolder, name), text);
    process.stdout.write(`${files.size} files written to ${generatedFolder}\n`);
  } finally {
    await server.stop();
  }
}
