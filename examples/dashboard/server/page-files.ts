/** Serves the built page from memory. Only its own files exist, so no path can lead to another file. */
import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { extname, join, sep } from 'node:path';
import { type Settings, textOfSettings } from '../shared/settings.ts';
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

export interface PageBucket {
  readonly url: string;
  readonly bucket: string;
}

/** What the page learns from placeholders. */
export interface PageValues {
  readonly cluster: 'embedded' | 'real';
  /** The name of the cluster. @defaultValue '' */
  readonly source?: string | undefined;
  /** The only namespace that it shows. @defaultValue all */
  readonly namespace?: string | undefined;
  /** Under which name the browser stores objects for the next reload. @defaultValue it stores nothing */
  readonly identity?: string | undefined;
  /** The path before those of the API. @defaultValue '' */
  readonly base?: string | undefined;
  /** @defaultValue it does not read from NATS */
  readonly nats?: PageBucket | undefined;
}

function settingsIn(given: PageValues): Settings {
  const { cluster, source = '', namespace = '', identity: storedFor = '', base = '' } = given;
  const { url = '', bucket = '' } = given.nats ?? {};
  return { cluster, source, namespace, storedFor, nats: url, bucket, base };
}

export async function readPageFiles(folder: string, given: PageValues): Promise<PageFiles> {
  const { nats } = given;
  // A kubeconfig may give its contexts any names.
  const settings = encodeURIComponent(textOfSettings(settingsIn(given)));
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
      response.end(html(content, { STYLE_NONCE: nonce, SETTINGS: settings }));
      return true;
    }
    // The names of assets contain a hash of their content.
    const cache = name.startsWith('/assets/') ? 'max-age=31536000, immutable' : 'no-cache';
    // The policy of a worker is that of its script.
    const headers = securityHeaders(undefined, nats?.url);
    response.writeHead(200, { ...headers, 'content-type': type, 'cache-control': cache });
    response.end(content);
    return true;
  };
}
