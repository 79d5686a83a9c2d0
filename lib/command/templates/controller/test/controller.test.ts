/** Tests the controller on a fake API server that permits only what `access.ts` declares. */
import { createClient, rolesFor } from 'rx-informer';
import { configMaps, eventsV1Events, leases } from 'rx-informer/resources';
import { createFakeApiServer, permittedBy } from 'rx-informer/testing';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { access } from '../src/access.ts';
import { startController } from '../src/controller.ts';
import { FINALIZER } from '../src/reconcile.ts';
import { type Widget, widgets } from '../src/widgets.ts';

const place = widgets.namespaced ? { namespace: 'default', name: 'first' } : { name: 'first' };
/** Where the ConfigMap is. */
const configMap = { namespace: place.namespace ?? 'widget-controller', name: 'first' };

function started() {
  const server = createFakeApiServer({
    resources: [configMaps, eventsV1Events, leases],
    allows: permittedBy(rolesFor(access)),
  });
  server.addResource(widgets, { custom: true });
  const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
  const lines: string[] = [];
  const { stop } = startController(client, { identity: 'test', log: (line) => lines.push(line) });
  onTestFinished(async () => {
    await stop();
    await client.close();
    expect(lines.filter((line) => /forbidden|dropped|gaveUp/.test(line))).toEqual([]);
  });
  return {
    server,
    lines,
    create: () => server.objects.create(widgets, { metadata: place } as Widget),
    object: () => server.objects.get(widgets, place),
    configMap: () => server.objects.get(configMaps, configMap),
    ready: () => server.objects.get(widgets, place)?.status?.conditions?.[0],
    events: () => server.objects.list(eventsV1Events).map(({ reason }) => reason),
  };
}
const soon = <R>(check: () => R) => vi.waitFor(check, { timeout: 15_000, interval: 20 });

describe('the controller', () => {
  test('makes the ConfigMap, and reports it by a condition and an Event', async () => {
    const { create, object, configMap, ready, events } = started();
    create();
    await soon(() => expect(ready()).toMatchObject({ type: 'Ready', status: 'True' }));
    expect(object()?.metadata.finalizers).toEqual([FINALIZER]);
    expect(configMap()?.metadata.ownerReferences?.[0]?.uid).toBe(object()?.metadata.uid);
    await soon(() => expect(events()).toEqual(['Created']));
  });

  test('corrects and replaces the ConfigMap after changes of others', async () => {
    const { server, create, configMap: current, ready } = started();
    create();
    await soon(() => expect(ready()?.status).toBe('True'));
    server.objects.modify(configMaps, configMap, (draft) => {
      draft.data = {};
    });
    await soon(() => expect(current()?.data).toEqual({ generation: '1' }));
    server.objects.delete(configMaps, configMap);
    await soon(() => expect(current()?.data).toEqual({ generation: '1' }));
  });

  test('removes the ConfigMap before the object is gone', async () => {
    const { server, create, object, configMap, ready, events } = started();
    create();
    await soon(() => expect(ready()?.status).toBe('True'));
    server.objects.delete(widgets, place);
    await soon(() => expect(object()).toBeUndefined());
    expect(configMap()).toBeUndefined();
    await soon(() => expect(events().sort()).toEqual(['Created', 'Removed']));
  });

  test('leaves a ConfigMap of another owner alone', async () => {
    const { server, create, ready, configMap: current, events } = started();
    server.objects.create(configMaps, { metadata: configMap, data: { mine: 'yes' } });
    create();
    await soon(() => expect(ready()).toMatchObject({ status: 'False', reason: 'NameTaken' }));
    expect(current()?.data).toEqual({ mine: 'yes' });
    await soon(() => expect(events()).toEqual(['NameTaken']));
  });

  test('loses nothing if writes conflict, requests fail and watches break', async () => {
    const { server, lines, create, configMap, ready } = started();
    const { faults } = server;
    faults.failNext({ resource: widgets, method: 'PATCH' }, { status: 409, reason: 'Conflict' });
    faults.failNext({ resource: configMaps, method: 'POST' }, { status: 500, times: 2 });
    create();
    await soon(() => expect(configMap()).toBeDefined());
    faults.dropWatches();
    await soon(() => expect(ready()?.status).toBe('True'));
    expect(lines.filter((line) => line.includes('failed')).length).toBeGreaterThan(0);
  });
});
