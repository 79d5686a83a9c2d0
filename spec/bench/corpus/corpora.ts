/** The collections that the server can serve, drawn from a seed. */
import { seededRandom } from 'rx-informer/testing';
import { configMapTemplate, deploymentTemplate, eventTemplate, widgetTemplate } from './kinds.ts';
import { ObjectBytes } from './object-bytes.ts';
import { podTemplate } from './pods.ts';

/** The names of the collections. */
export type CorpusName = keyof typeof corpora;

interface Corpus {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  /** Divides the number of objects, so that large objects need no more memory than the others. */
  readonly divisor: number;
  readonly template: (index: number, seed: number) => string;
}

const core = { group: '', version: 'v1', divisor: 1 };

export const corpora = {
  /** Pods of 3.2 KB. */
  pods: {
    ...core,
    plural: 'pods',
    kind: 'Pod',
    template: (index, seed) => podTemplate(index, seed, false),
  },
  /** Pods of 6 KB with three containers and five conditions. */
  'large-pods': {
    ...core,
    plural: 'pods',
    kind: 'Pod',
    template: (index, seed) => podTemplate(index, seed, true),
  },
  deployments: {
    ...core,
    group: 'apps',
    plural: 'deployments',
    kind: 'Deployment',
    template: deploymentTemplate,
  },
  /** ConfigMaps, of which one in twenty has 200 kB. */
  configmaps: {
    ...core,
    plural: 'configmaps',
    kind: 'ConfigMap',
    divisor: 10,
    template: configMapTemplate,
  },
  events: { ...core, plural: 'events', kind: 'Event', template: eventTemplate },
  /** A custom resource: the server writes its members in alphabetical order. */
  widgets: {
    ...core,
    group: 'bench.example.com',
    plural: 'widgets',
    kind: 'Widget',
    template: widgetTemplate,
  },
} as const satisfies Readonly<Record<string, Corpus>>;

/** The path of the collection. */
export function pathOf(name: CorpusName): string {
  const { group, version, plural } = corpora[name];
  return group === '' ? `/api/${version}/${plural}` : `/apis/${group}/${version}/${plural}`;
}

/** The objects of a collection, the same for the same seed. */
export function drawCorpus(name: CorpusName, objects: number, seed: number): ObjectBytes {
  const { template, divisor }: Corpus = corpora[name];
  const count = Math.max(1, Math.floor(objects / divisor));
  return new ObjectBytes(count, (index) => template(index, seed), seededRandom(seed));
}
