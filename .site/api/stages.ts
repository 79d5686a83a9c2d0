/**
 * Says for each folder of lib how the site calls it, which guide teaches it and which laws it keeps. `api.ts` fails on a folder that is
 * missing here.
 */

/** One folder of lib, as a group of names in the reference. Paths are below docs. */
export interface Stage {
  readonly title: string;
  readonly guide: string;
  readonly laws?: string;
}

const laws = (name: string) => `reference/laws/${name}.md`;

/** In the order of the guides: from an informer to what is built on it, then the stages below it. */
export const STAGES: Readonly<Record<string, Stage>> = {
  informer: { title: 'Informers', guide: 'guide/getting-started.md', laws: laws('informer') },
  factory: {
    title: 'Factories, listers and clusters',
    guide: 'guide/getting-started.md',
    laws: laws('factory'),
  },
  query: { title: 'Live queries', guide: 'guide/queries.md', laws: laws('query') },
  client: { title: 'Clients', guide: 'guide/clients.md', laws: laws('client') },
  controller: {
    title: 'Controllers',
    guide: 'guide/sample-controller.md',
    laws: laws('controller'),
  },
  'work-queue': {
    title: 'Work queues',
    guide: 'guide/sample-controller.md',
    laws: laws('work-queue'),
  },
  metrics: { title: 'Metrics', guide: 'operations/monitoring.md' },
  election: {
    title: 'Leader election',
    guide: 'guide/sample-controller.md',
    laws: laws('controller'),
  },
  shards: { title: 'Shards', guide: 'guide/shards.md', laws: laws('shards') },
  persist: { title: 'Warm start', guide: 'guide/warm-start.md', laws: laws('persist') },
  meta: {
    title: 'Objects, keys, selectors and errors',
    guide: 'guide/getting-started.md',
    laws: laws('metadata'),
  },
  transport: { title: 'Requests', guide: 'guide/clients.md', laws: laws('transport') },
  'list-watch': {
    title: 'Lists and watches',
    guide: 'guide/getting-started.md',
    laws: laws('list-watch'),
  },
  decode: { title: 'Decoding', guide: 'operations/memory.md', laws: laws('decode') },
  reflector: {
    title: 'The reflector',
    guide: 'internals/architecture.md',
    laws: laws('reflector'),
  },
  delta: { title: 'The delta queue', guide: 'internals/architecture.md', laws: laws('delta') },
  store: { title: 'The store', guide: 'guide/getting-started.md', laws: laws('store') },
  audit: { title: 'The audit', guide: 'operations/audit.md', laws: laws('informer') },
  checks: {
    title: 'Checks of options',
    guide: 'operations/troubleshooting.md',
    laws: laws('metadata'),
  },
  rx: { title: 'Time and demand', guide: 'guide/back-pressure.md', laws: laws('time') },
  testing: {
    title: 'Tests',
    guide: 'guide/testing.md',
    laws: laws('fake-api-server'),
  },
  'object-log': {
    title: 'The log of the fake API server',
    guide: 'reference/fake-api-server.md',
    laws: laws('fake-api-server'),
  },
  node: { title: 'Node', guide: 'guide/clients.md', laws: laws('client') },
  react: { title: 'React', guide: 'guide/react.md', laws: laws('views') },
  wire: { title: 'Rows as messages', guide: 'guide/server.md', laws: laws('server') },
  server: { title: 'One server for all users', guide: 'guide/server.md', laws: laws('server') },
  worker: { title: 'One worker for all tabs', guide: 'guide/tabs.md', laws: laws('worker') },
  diagnose: { title: 'Diagnoses', guide: 'operations/diagnose.md', laws: laws('client') },
  nats: { title: 'NATS', guide: 'guide/nats.md', laws: laws('nats') },
  resources: { title: 'Built-in resources', guide: 'guide/clients.md' },
};

/** An entry of the package: how it is imported, its source, and its golden file in spec/api. */
export interface Entry {
  readonly name: string;
  readonly source: string;
  readonly golden: string;
}

const entry = (path: string, source: string, golden = path.replace('/', '-')): Entry => ({
  name: path === '' ? 'rx-informer' : `rx-informer/${path}`,
  source: `lib/${source}`,
  golden: golden || 'core',
});

export const ENTRIES: readonly Entry[] = [
  entry('', 'index.ts'),
  entry('node', 'node/index.ts'),
  entry('testing', 'testing/index.ts'),
  entry('react', 'react/index.ts'),
  entry('react/worker', 'react/worker.ts'),
  entry('worker', 'worker/index.ts'),
  entry('wire', 'wire/index.ts'),
  entry('server', 'server/index.ts'),
  entry('diagnose', 'diagnose/index.ts'),
  entry('nats', 'nats/index.ts'),
];

/** The entry whose names share a page per API group, because there are hundreds of them. */
export const RESOURCES: Entry = entry('resources', 'resources/index.ts');
