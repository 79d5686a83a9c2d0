/** Runs every numbered example as a user would, and checks that it ends and prints the expected lines. */
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, test } from 'vitest';

const folder = fileURLToPath(new URL('../../examples/', import.meta.url));
const run = promisify(execFile);

/** The expected output of each example, line by line; a pattern matches one line. */
const printed: Readonly<Record<string, readonly (string | RegExp)[]>> = {
  '01-list-pods.ts': [
    '+ shop/web-0',
    '1 pods; changes appear as they happen',
    '+ shop/web-1',
    '- shop/web-0',
  ],
  '02-late-subscriber.ts': [
    'early: web-0 web-1 web-2',
    'late:  web-0 web-2',
    'both saw web-3: true',
    'requests to the server: 1',
  ],
  '03-indexes.ts': [
    'nodes: node-0 node-1',
    'on node-1: web-1 web-3 web-5',
    'of rs-1: 6',
    'backend: web-4 web-5',
    /^on node-1 now: (?=.*web-0)/,
  ],
  '04-status-and-errors.ts': [
    'idle: Starting',
    'streaming: Loading',
    'backoff: Reconnecting (ServiceUnavailable)',
    /^streaming: Loading/,
    'watching: Live',
    '-- the connection is lost, and a pod is created meanwhile',
    'backoff: Reconnecting (Network)',
    /^connecting: Connecting/,
    'watching: Live',
    '-- the version has expired (410), and a pod is deleted meanwhile',
    /^backoff: Reconnecting/,
    /^streaming: Reading the list again/,
    'watching: Live',
    'left: shop/web-1',
    'relists: 1',
    'stopped: Stopped',
  ],
  '05-conflation.ts': [
    'many commits: true',
    'few paints: true',
    'the last paint shows the newest state: true',
  ],
  '06-own-lister-watcher.ts': ['warm: kitchen', 'cellar: 12 → 23', 'warm: kitchen cellar'],
  '07-node-kubeconfig.ts': [/^server version: v\d/, 'pods of shop: shop/web-0'],
  '08-clients-and-edit.ts': [
    'two versions: true',
    'image: example.com/web:2',
    'replicas: 3',
    'in the store: paused true',
    'owner: tea',
    'deployments: web',
    'left: 0',
  ],
  '09-factory-and-listers.ts': [
    'informers: ui/pods/shop+till, ui/configmaps/shop',
    'web in both: 2',
    'uid known: true',
    'in no namespace of the factory: pods "web-0" not found',
    'in the shop now: 2',
    'metadata only: apiVersion kind metadata',
    'columns: Name Ready Status Restarts Age',
    'rows: web-0 Running, web-1 Pending',
    'widgets.example.com is not synced',
  ],
  '10-pods-not-ready.ts': [
    'db: db-2-x; web: web-2-x',
    'db: db-2-x; web: ok',
    'db: db-1-x db-2-x; web: ok',
  ],
  '11-top-by-restarts.ts': ['10 of 200: web-199 … web-190', '10 of 200: web-0 … web-191'],
  '12-pods-per-node.ts': [
    'node-1: 2 pods, cpu 300m, memory 256Mi',
    'node-2: 1 pods, cpu 2000m, memory 1024Mi',
    'node-3: 0 pods, cpu 0m, memory 0Mi',
    '-- a pod was created on node-3',
    'node-1: 2 pods, cpu 300m, memory 256Mi',
    'node-2: 1 pods, cpu 2000m, memory 1024Mi',
    'node-3: 1 pods, cpu 1500m, memory 512Mi',
  ],
  '13-crash-loop-alert.ts': ['crash loop: web-0 web-1 web-2', 'crash loop: web-0'],
  '14-events-of-objects.ts': [
    'old-0 Killing (gone), web-0 Scheduled (Pending)',
    'old-0 Killing (gone), web-0 Scheduled (Running)',
    'old-0 Killing (gone), web-0 Scheduled (gone)',
  ],
  '15-expiring-certificates.ts': ['expiring: expired', 'expiring: expired tomorrow'],
  '16-many-clusters.ts': [
    'failed: web-east web-west',
    '2 of 2 clusters live',
    'failed: web-east web-north web-west',
    'failed: web-north web-west',
    /^1 of 2 clusters live; north: pods: backoff/,
    'failed: web-north web-west',
  ],
};

const files = readdirSync(folder).filter((name) => /^\d\d-.*\.ts$/.test(name));

describe('examples', () => {
  test('all have an expected output', ({ expect }) => {
    expect(files.toSorted()).toEqual(Object.keys(printed));
  });

  // Run concurrently, because they spend most of their time waiting.
  test.concurrent.for(files)('%s', async (name, { expect }) => {
    const { stdout, stderr } = await run(process.execPath, [
      '--conditions=rx-informer-source',
      '--disable-warning=ExperimentalWarning',
      folder + name,
    ]);
    expect(stderr).toBe('');
    const lines = stdout.trimEnd().split('\n');
    const expected = printed[name] ?? [];
    expect(lines, stdout).toHaveLength(expected.length);
    for (const [index, line] of expected.entries()) {
      if (typeof line === 'string') expect(lines[index]).toBe(line);
      else expect(lines[index]).toMatch(line);
    }
  });
});
