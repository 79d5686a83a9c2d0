/** Tests the controller on a fake API server that permits only what `access.ts` declares, in virtual time. */
import { createClient, rolesFor } from 'rx-informer';
import { configMaps, eventsV1Events, leases } from 'rx-informer/resources';
import { createFakeApiServer, createVirtualTime, permittedBy } from 'rx-informer/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { access } from '../src/access.ts';
import { startController } from '../src/controller.ts';
import { FINALIZER } from '../src/reconcile.ts';
import { type Widget, widgets } from '../src/widgets.ts';

const place = widgets.namespaced ? { namespace: 'default', name: 'first' } : { name: 'first' };
/** Where the ConfigMap is. */
const configMap = { namespace: place.namespace ?? 'widget-controller', name: 'first' };

const MINUTE = 60_000;

function started(allows = permittedBy(rolesFor(access)), mayFail = /^$/, isApplied = true) {
  const time = createVirtualTime();
  const { scheduler } = time;
  const server = createFakeApiServer({
    resources: [configMaps, eventsV1Events, leases],
    allows,
    scheduler,
  });
  const applyDefinition = () => server.addResource(widgets, { custom: true });
  if (isApplied) applyDefinition();
  const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch, scheduler });
  const lines: string[] = [];
  const log = (line: string) => lines.push(line);
  const { stop, controller } = startController(client, { identity: 'test', log, scheduler });
  onTestFinished(async () => {
    // A promise that waits for timers settles only while the time advances.
    const stopped = stop();
    await time.advance(MINUTE);
    await stopped;
    await client.close();
    expect(time.pending).toBe(0);
    const bad = lines.filter((line) => /forbidden|dropped|gaveUp/.test(line));
    expect(bad.filter((line) => !mayFail.test(line))).toEqual([]);
  });
  return {
    server,
    time,
    lines,
    controller,
    applyDefinition,
    create: () => server.objects.create(widgets, { metadata: place } as Widget),
    object: () => server.objects.get(widgets, place),
    configMap: () => server.objects.get(configMaps, configMap),
    ready: () => server.objects.get(widgets, place)?.status?.conditions?.[0],
    events: () => server.objects.list(eventsV1Events).map(({ reason }) => reason),
  };
}

describe('the controller', () => {
  test('makes the ConfigMap, and reports it by a condition and an Event', async () => {
    const { time, create, object, configMap, ready, events } = started();
    create();
    await time.advance(MINUTE);
    expect(ready()).toMatchObject({ type: 'Ready', status: 'True' });
    expect(object()?.metadata.finalizers).toEqual([FINALIZER]);
    expect(configMap()?.metadata.ownerReferences?.[0]?.uid).toBe(object()?.metadata.uid);
    expect(events()).toEqual(['Created']);
  });

  test('corrects and replaces the ConfigMap after changes of others', async () => {
    const { time, server, create, configMap: current } = started();
    create();
    await time.advance(MINUTE);
    server.objects.modify(configMaps, configMap, (draft) => {
      draft.data = {};
    });
    await time.advance(MINUTE);
    expect(current()?.data).toEqual({ generation: '1' });
    server.objects.delete(configMaps, configMap);
    await time.advance(MINUTE);
    expect(current()?.data).toEqual({ generation: '1' });
  });

  test('removes the ConfigMap before the object is gone', async () => {
    const { time, server, create, object, configMap: current, events } = started();
    create();
    await time.advance(MINUTE);
    server.objects.modify(configMaps, configMap, ({ metadata = {} }) => {
      metadata.finalizers = ['example.com/of-another'];
    });
    server.objects.delete(widgets, place);
    await time.advance(MINUTE);
    expect(current()?.metadata.deletionTimestamp).toBeDefined();
    expect(object()).toBeDefined();
    server.objects.modify(configMaps, configMap, ({ metadata = {} }) => {
      metadata.finalizers = [];
    });
    await time.advance(MINUTE);
    expect([current(), object()]).toEqual([undefined, undefined]);
    expect(events().sort()).toEqual(['Created', 'Removed']);
  });

  test('removes also a ConfigMap that its cache does not show', async () => {
    const { time, server, create, object, configMap: current } = started();
    await time.advance(MINUTE);
    server.faults.silence({ use: 'watch', resource: configMaps });
    create();
    await time.advance(1_000);
    expect(current()).toBeDefined();
    server.objects.delete(widgets, place);
    await time.advance(20_000);
    expect([current(), object()]).toEqual([undefined, undefined]);
  });

  test('leaves a ConfigMap of another owner alone', async () => {
    const { time, server, create, ready, configMap: current, events } = started();
    server.objects.create(configMaps, { metadata: configMap, data: { mine: 'yes' } });
    create();
    await time.advance(1_000);
    expect(ready()).toMatchObject({ status: 'False', reason: 'NameTaken' });
    expect(current()?.data).toEqual({ mine: 'yes' });
    expect(events()).toEqual(['NameTaken']);
  });

  test('loses nothing if writes conflict, requests fail and watches break', async () => {
    const { time, server, lines, create, configMap: current, ready } = started();
    const { faults } = server;
    faults.failNext({ resource: widgets, method: 'PATCH' }, { status: 409, reason: 'Conflict' });
    faults.failNext({ resource: configMaps, method: 'POST' }, { status: 500, times: 2 });
    create();
    await time.advance(10_000);
    expect(current()).toBeDefined();
    faults.dropWatches();
    await time.advance(MINUTE);
    expect(ready()?.status).toBe('True');
    expect(lines.filter((line) => line.includes('failed')).length).toBeGreaterThan(0);
  });

  test('stands by while it may not take the Lease, and its log says why', async () => {
    const { leaderElection: _, ...others } = access;
    const permitted = permittedBy(rolesFor(others));
    const { time, lines, controller, create, configMap: current } = started(permitted, /^lease: /);
    create();
    await time.advance(MINUTE);
    expect(controller.status.phase).toBe('standby');
    expect(lines.join('\n')).toMatch(/^lease: .*leases.* is forbidden/m);
    expect(current()).toBeUndefined();
  });
});

describe('a cluster that is not prepared', () => {
  test('says what to apply while the cluster does not know the kind, and begins when it does', async () => {
    const { time, lines, applyDefinition, create, ready } = started(undefined, /^$/, false);
    await time.advance(MINUTE);
    const said = lines.filter((line) => line.includes('manifests/1-crd.yaml'));
    expect(said).toEqual([expect.stringMatching(/^blocked: .*kubectl apply --filename/)]);
    applyDefinition();
    create();
    await time.advance(10 * MINUTE);
    expect(ready()?.status).toBe('True');
  });
});
