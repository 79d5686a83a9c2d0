/** Serves the built page from memory. Only its own files exist, so no path can lead to another file. */
import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { extname, join, sep } from 'node:path';
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

/** The bucket from which a page reads. */
export interface PageBucket {
  /** The origin of the WebSocket. */
  readonly url: string;
  readonly bucket: string;
}

/**
 * Reads all files of a folder. The page learns from placeholders which type of cluster it shows, to which namespace it
 * is restricted, if it is, and whether it reads from NATS.
 */
export async function readPageFiles(
  folder: string,
  cluster: 'embedded' | 'real',
  namespace = '',
  nats?: PageBucket | undefined,
): Promise<PageFiles> {
  const files = new Map<string, Buffer>();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    files.set(file.slice(folder.length).split(sep).join('/'), await readFile(file));
  }
  return (path, response) => {
    const name = path === '/' ? '/index.html' : path;
    const content = files.get(name);
    const type = types[extname(name)];
    if (content === undefined || type === undefined) return false;
    if (name === '/index.html') {
      const nonce = randomBytes(16).toString('base64');
      const headers = securityHeaders(nonce, nats?.url);
      response.writeHead(200, { ...headers, 'content-type': type });
      const values = { STYLE_NONCE: nonce, CLUSTER: cluster, NAMESPACE: namespace };
      const { url = '', bucket = '' } = nats ?? {};
      response.end(html(content, { ...values, NATS: url, BUCKET: bucket }));
      return true;
    }
    // The names of assets contain a hash of their content.
    const cache = name.startsWith('/assets/') ? 'max-age=31536000, immutable' : 'no-cache';
    response.writeHead(200, { ...securityHeaders(), 'content-type': type, 'cache-control': cache });
    response.end(content);
    return true;
  };
}
