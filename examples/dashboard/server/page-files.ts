/** Serves the built page from memory. Only its own files exist, so no path can lead to another file. */
import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { extname, join, sep } from 'node:path';
import { noSettings, type Settings } from '../shared/settings.ts';
import { securityHeaders } from './guard.ts';

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Responds with a file of the page. Returns false if the page has no file of that path. */
export type PageFiles = (path: string, response: ServerResponse) => boolean;

function html(content: Buffer, values: Readonly<Record<string, string>>): string {
  return content
    .toString()
    .replaceAll(/%([A-Z_]+)%/g, (mark, name: string) => values[name] ?? mark);
}

/** Reads the files of a folder. The page learns its settings from a placeholder. */
export async function readPageFiles(
  folder: string,
  settings: Pick<Settings, 'cluster'> & Partial<Settings>,
): Promise<PageFiles> {
  const start = settings.hasUsers ? '/users.html' : '/index.html';
  // A kubeconfig may give its contexts any names.
  const encoded = encodeURIComponent(JSON.stringify({ ...noSettings, ...settings }));
  const nats = settings.nats || undefined;
  const files = new Map<string, Buffer>();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    files.set(file.slice(folder.length).split(sep).join('/'), await readFile(file));
  }
  return (path, response) => {
    const name = path === '/' ? start : path;
    // The other start is not one of these settings.
    if (name !== start && extname(name) === '.html') return false;
    const content = files.get(name);
    const type = types[extname(name)];
    if (content === undefined || type === undefined) return false;
    if (name === start) {
      const nonce = randomBytes(16).toString('base64');
      const headers = securityHeaders(nonce, nats);
      response.writeHead(200, { ...headers, 'content-type': type });
      response.end(html(content, { STYLE_NONCE: nonce, SETTINGS: encoded }));
      return true;
    }
    // The names of assets contain a hash of their content.
    const cache = name.startsWith('/assets/') ? 'max-age=31536000, immutable' : 'no-cache';
    // The policy of a worker is that of its script.
    const headers = securityHeaders(undefined, nats);
    response.writeHead(200, { ...headers, 'content-type': type, 'cache-control': cache });
    response.end(content);
    return true;
  };
}
