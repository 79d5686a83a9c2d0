/**
 * Prints what an object takes in memory with each way of decoding, as docs/operations/memory.md shows.
 *
 *   NODE_ENV=production node --expose-gc spec/bench/memory.ts [--corpus pods] [--objects 50000]
 *
 * Each way runs in a process of its own, which holds the decoded objects in a `Map`, without a store. The figures are
 * the growth of the heap after garbage collections, divided by the number of objects.
 */
import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import {
  type Decoding,
  defineResource,
  differentialDecoding,
  type KubernetesObject,
  projectedDecoding,
} from 'rx-informer';
import { settledRssMb } from './contestants/memory.ts';
import { type CorpusName, corpora, drawCorpus } from './corpus/corpora.ts';

const { values } = parseArgs({
  options: {
    corpus: { type: 'string', default: 'pods' },
    objects: { type: 'string', default: '50000' },
    way: { type: 'string' },
  },
});

const paths = ['spec.nodeName', 'status.phase', 'status.containerStatuses.restartCount'];

interface Way {
  readonly decoding: () => Decoding;
  readonly keepManagedFields?: boolean;
}

const ways: Readonly<Record<string, Way>> = {
  'whole, with managedFields': { decoding: differentialDecoding, keepManagedFields: true },
  whole: { decoding: differentialDecoding },
  projected: { decoding: () => projectedDecoding({ project: paths }) },
  'metadata only': { decoding: () => projectedDecoding({ project: [] }) },
};

const line = (object: Buffer) => Buffer.from(`{"type":"ADDED","object":${object}}\n`);

async function measure({ decoding, keepManagedFields = false }: Way): Promise<string> {
  const corpus = values.corpus as CorpusName;
  const objects = drawCorpus(corpus, Number(values.objects), 1);
  const decoder = decoding().watch<KubernetesObject>({
    resource: defineResource({ ...corpora[corpus], namespaced: true }),
    maxFrameBytes: 2 ** 24,
    keepManagedFields,
    onRefused: ({ reason }) => {
      throw reason;
    },
  });
  const held = new Map<string, KubernetesObject>();
  await settledRssMb();
  const heap = process.memoryUsage().heapUsed;
  for (let index = 0; index < objects.count; index++) {
    for (const event of decoder.push(line(objects.of(index, true))) ?? []) {
      if (event.type !== 'ADDED') throw decoder.failure ?? new Error('an object was not decoded');
      held.set(event.key, event.object);
    }
  }
  await settledRssMb();
  const each = (process.memoryUsage().heapUsed - heap) / held.size;
  return Math.round(each).toLocaleString('en');
}

const way = values.way === undefined ? undefined : ways[values.way];
if (way !== undefined) process.stdout.write(await measure(way));
else {
  process.stdout.write('| | bytes an object |\n|---|---|\n');
  for (const name of Object.keys(ways)) {
    const args = [...process.execArgv, import.meta.filename, '--way', name];
    const given = ['--corpus', values.corpus, '--objects', values.objects];
    const figures = execFileSync(process.execPath, [...args, ...given], { encoding: 'utf8' });
    process.stdout.write(`| ${name} | ${figures} |\n`);
  }
}
