/** The differences between custom resources and built-in ones. */
import { expect, it } from 'vitest';
import {
  type ApiServer,
  expectFailure,
  get,
  isNewer,
  post,
  put,
  succeed,
  take,
  WIDGETS,
  widget,
  widgets,
} from './api-server.ts';

export function customResourceTests(server: () => ApiServer): void {
  const test = (name: string, run: () => Promise<void>) =>
    it(name, async ({ skip }) => {
      if (!server().capabilities.widgets) return skip('this server has no widgets');
      await run();
    });

  test('the items of a list have kind and apiVersion', async () => {
    const path = widgets(await server().freshNamespace());
    await post(server(), path, widget('w'));
    const list = await get(server(), path);
    expect(list.kind).toBe('WidgetList');
    expect(list.items[0]).toMatchObject({ kind: 'Widget', apiVersion: `${WIDGETS.group}/v1` });
  });

  test('a POST without a kind is refused', async () => {
    const path = widgets(await server().freshNamespace());
    const answer = await server().request('POST', path, { body: { metadata: { name: 'w' } } });
    expectFailure(answer, 400, 'BadRequest', /Object 'Kind' is missing/);
  });

  test('a PUT without a version is refused', async () => {
    const path = widgets(await server().freshNamespace());
    await post(server(), path, widget('w'));
    const answer = await server().request('PUT', `${path}/w`, { body: widget('w', { spec: {} }) });
    expectFailure(answer, 422, 'Invalid', /metadata.resourceVersion: .*must be specified/);
    expect(answer.json.details).toMatchObject({ name: 'w', group: WIDGETS.group, kind: 'widgets' });
  });

  test('a change of any field except metadata and status increments the generation', async () => {
    const path = widgets(await server().freshNamespace());
    const one = await post(
      server(),
      path,
      widget('w', { spec: { size: 1 }, extra: 1, status: { x: 1 } }),
    );
    expect(one.metadata.generation).toBe(1);
    expect(one).not.toHaveProperty('status');
    const two = await put(server(), `${path}/w`, { ...one, extra: 2, status: { x: 2 } });
    expect(two.metadata.generation).toBe(2);
    expect(two).not.toHaveProperty('status');
    const same = await put(server(), `${path}/w`, two);
    expect(same.metadata.resourceVersion).toBe(two.metadata.resourceVersion);
    const three = await put(server(), `${path}/w/status`, {
      ...two,
      metadata: { ...two.metadata, labels: { no: 'no' }, annotations: { no: 'no' } },
      spec: { size: 9 },
      status: { x: 3 },
    });
    expect(three).toMatchObject({ spec: { size: 1 }, extra: 2, status: { x: 3 } });
    expect(three.metadata).not.toHaveProperty('labels');
    expect(three.metadata).not.toHaveProperty('annotations');
    expect(three.metadata.generation).toBe(2);
    expect(isNewer(three, two)).toBe(true);
  });

  test('the details of errors and deletions contain the group', async () => {
    const path = widgets(await server().freshNamespace());
    const { metadata } = await post(server(), path, widget('w'));
    const again = await server().request('POST', path, { body: widget('w') });
    expectFailure(again, 409, 'AlreadyExists', `^widgets\\.${WIDGETS.group} "w" already exists$`);
    const details = { name: 'w', group: WIDGETS.group, kind: 'widgets' };
    expect(again.json.details).toEqual(details);
    const deleted = await succeed(server(), 'DELETE', `${path}/w`);
    expect(deleted.details).toEqual({ ...details, uid: metadata.uid });
  });

  test('a watch with sendInitialEvents streams the list', async () => {
    const path = widgets(await server().freshNamespace());
    const one = await post(server(), path, widget('w', { spec: { size: 1 } }));
    const lines = server().stream(path, {
      watch: '1',
      sendInitialEvents: 'true',
      resourceVersionMatch: 'NotOlderThan',
      allowWatchBookmarks: 'true',
    });
    const [added, mark] = await take(lines, 2);
    lines.close();
    expect(added).toEqual({ type: 'ADDED', object: one });
    expect(mark.object).toEqual({
      kind: 'Widget',
      apiVersion: `${WIDGETS.group}/v1`,
      metadata: {
        resourceVersion: expect.stringMatching(/^[0-9]+$/),
        annotations: { 'k8s.io/initial-events-end': 'true' },
      },
    });
  });

  test('a watch from a version before the first object is refused as too old', async () => {
    const path = widgets(await server().freshNamespace());
    const lines = server().stream(path, { watch: '1', resourceVersion: '1' });
    const [error] = await take(lines, 1);
    lines.close();
    expect(error.type).toBe('ERROR');
    expect(error.object).toMatchObject({ kind: 'Status', code: 410, reason: 'Expired' });
    expect(error.object.message).toMatch(/^too old resource version: 1 \([0-9]+\)$/);
  });
}
