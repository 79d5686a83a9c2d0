/**
 * Builds the documentation site into `.site/dist`, and checks it: every name has a page, every page is in the navigation, and every
 * link leads to a page and a heading.
 *
 *   npm run docs -- [--base /path/] [--serve PORT]
 *
 * Exits with 1 and a line per fault.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build, serve } from 'vitepress';
import { writeApi } from './api/api.ts';
import { deadLinks } from './pages/dead-links.ts';
import { Documents } from './pages/documents.ts';
import { navigation } from './pages/navigation.ts';

const site = fileURLToPath(new URL('.', import.meta.url));
const root = fileURLToPath(new URL('..', import.meta.url));
const { values } = parseArgs({
  options: { base: { type: 'string', default: '/' }, serve: { type: 'string' } },
});
const base = values.base.replace(/^\/?/, '/').replace(/\/?$/, '/');
const began = performance.now();
const pages = `${site}.cache/pages/`;

rmSync(pages, { recursive: true, force: true });
const api = await writeApi(root, `${site}.cache/typedoc`, pages);
const documents = new Documents(root, pages);
const written = documents.write();
const { nav, sidebar, faults } = navigation(root, written, api.groups);
writeFileSync(`${site}.cache/navigation.json`, JSON.stringify({ nav, sidebar }));
await build(site, { base });
const { links, dead, count } = deadLinks(`${site}dist`, base);

const all = [...api.faults, ...documents.faults, ...faults, ...dead];
for (const fault of all) console.error(fault);
const seconds = Math.round((performance.now() - began) / 1000);
console.log(`${count} pages and ${links} links in ${seconds} s; ${all.length} faults`);
if (all.length > 0) process.exitCode = 1;
else if (values.serve !== undefined) await serve({ root: site, base, port: Number(values.serve) });
