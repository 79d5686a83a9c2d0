import { createIndexer } from 'rx-informer';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { defaultMutationGuard } from '../../lib/store/mutation-guard.ts';

const make = () => ({
  metadata: { name: 'a', labels: { app: 'web' } },
  spec: { ports: [{ n: 1 }] },
});

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('mutation guard', () => {
  it('S16: who changes a cached object throws at its own line (TestMutationDetector)', () => {
    const indexer = createIndexer<ReturnType<typeof make>>({ mutationGuard: 'freeze' });
    indexer.add(make());
    const cached = indexer.get('a');
    expect(() => {
      if (cached) cached.metadata.labels.app = 'db';
    }).toThrow(/read only property 'app'/);
    expect(() => cached?.spec.ports.push({ n: 2 })).toThrow(TypeError);
    expect(() => {
      for (const port of indexer.list()[0]?.spec.ports ?? []) port.n = 2;
    }).toThrow(TypeError);
    expect(indexer.get('a')).toEqual(make());
  });

  it('S16: off trusts, and costs nothing', () => {
    const indexer = createIndexer<ReturnType<typeof make>>({ mutationGuard: 'off' });
    const object = make();
    indexer.add(object);
    expect(indexer.get('a')).toBe(object);
    expect(Object.isFrozen(object)).toBe(false);
  });

  it.each([
    ['development', 'freeze'],
    ['test', 'freeze'],
    ['production', 'off'],
    ['', 'off'],
  ])('S16: NODE_ENV %j means %s', (mode, guard) => {
    vi.stubEnv('NODE_ENV', mode);
    expect(defaultMutationGuard()).toBe(guard);
    const indexer = createIndexer<ReturnType<typeof make>>();
    indexer.add(make());
    expect(Object.isFrozen(indexer.get('a')?.spec)).toBe(guard === 'freeze');
  });

  it('S16: where there is no process, as in a browser, nothing is done', () => {
    vi.stubGlobal('process', undefined);
    expect(defaultMutationGuard()).toBe('off');
    vi.unstubAllGlobals();
  });
});
