import { resourceName, resourcePath } from 'rx-informer';
import * as resources from 'rx-informer/resources';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DiscoveredResource, discover, reader } from '../resources/discovery.ts';
import { generate, generatorFlags, readGenerated } from '../resources/generate.ts';
import { type ApiServerProcess, startApiServer } from './apiserver.ts';
import { isDefaultVersion } from './apiserver-binary.ts';
import { noControl } from './cluster.ts';

describe.skipIf(noControl || !isDefaultVersion)('the generated resources', () => {
  let server: ApiServerProcess;
  let served: DiscoveredResource[];
  let api: ReturnType<typeof reader>;

  beforeAll(async () => {
    server = await startApiServer({ flags: generatorFlags });
    api = reader(server);
    served = await discover(api.get);
  });
  afterAll(async () => {
    await api.close();
    await server.stop();
  });

  it('equal the output of the generator for the running server', async () => {
    const expected = await generate(server);
    const actual = readGenerated();
    expect([...actual.keys()].sort()).toEqual([...expected.keys()].sort());
    for (const [name, text] of expected) expect(actual.get(name), name).toBe(text);
  });

  it('are exactly the resources of the server', () => {
    const named = (r: { group: string; plural: string; version: string; namespaced: boolean }) =>
      `${resourceName(r)} ${r.version} ${r.namespaced}`;
    expect(Object.values(resources).map(named).sort()).toEqual(served.map(named).sort());
  });

  it('can be listed if the server says so', async () => {
    const listable = Object.values(resources).filter((resource) =>
      served.some(
        ({ group, version, plural, verbs }) =>
          group === resource.group &&
          version === resource.version &&
          plural === resource.plural &&
          verbs.includes('list'),
      ),
    );
    expect(listable.length).toBeGreaterThan(60);
    for (const resource of listable) {
      const list = await api.get<{ kind: string; apiVersion: string }>(resourcePath(resource));
      const { kind, apiVersion } = resource;
      expect(list).toMatchObject({ kind: `${kind}List`, apiVersion });
    }
  });

  it('name the version of the server in their headers', async () => {
    const { gitVersion } = await api.get<{ gitVersion: string }>('/version');
    const generated = readGenerated();
    expect(generated.size).toBeGreaterThan(0);
    for (const [name, text] of generated) expect(text, name).toContain(gitVersion);
  });
});
