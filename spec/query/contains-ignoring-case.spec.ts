/** Text conditions that ignore case. */
import { containsIgnoringCase, liveQuery } from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { describe, expect, it } from 'vitest';

const pod = {
  metadata: { name: 'Web-0', labels: { 'a.b/team': 'WebShop' } },
  spec: { containers: [{ image: 'Nginx' }, { image: 'redis' }], priority: 100 },
} as never;
const holds = (path: string, text: string) => containsIgnoringCase(path, text).test(pod, 0);

describe('containsIgnoringCase', () => {
  it('Q62: finds text in any case, at any path and through arrays', () => {
    expect(holds('metadata.name', 'wEB')).toBe(true);
    expect(holds('metadata.labels["a.b/team"]', 'shop')).toBe(true);
    expect(holds('spec.containers.image', 'REDIS')).toBe(true);
    expect(holds('spec.containers.image', 'apache')).toBe(false);
    expect(holds('metadata.namespace', '')).toBe(false);
  });

  it('Q62: equal conditions make equal queries, and the path and the text are validated', () => {
    const key = (path: string, text: string) =>
      liveQuery({ from: pods, where: containsIgnoringCase(path, text) }).key;
    expect(key('metadata["name"]', 'WEB')).toBe(key('metadata.name', 'web'));
    expect(key('metadata.name', 'web')).not.toBe(key('metadata.name', 'db'));
    expect(key('metadata.name', 'web')).not.toBe(key('metadata.namespace', 'web'));
    expect(() => holds('metadata..name', 'web')).toThrow(/the path of containsIgnoringCase is/);
    expect(() => holds('metadata.name', 1 as never)).toThrow(
      /the text of containsIgnoringCase is 1/,
    );
  });
});
