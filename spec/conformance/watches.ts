/** Watches: their events, and their ends. */
import { expect, it } from 'vitest';
import { eventually } from '../support/patience.ts';
import {
  type ApiServer,
  all,
  allWithin,
  configMaps,
  expectFailure,
  fill,
  get,
  isNewer,
  type Json,
  post,
  put,
  short,
  succeed,
  take,
  untilCached,
} from './api-server.ts';

const END = { 'k8s.io/initial-events-end': 'true' };
const STREAMING = {
  watch: '1',
  sendInitialEvents: 'true',
  resourceVersionMatch: 'NotOlderThan',
  allowWatchBookmarks: 'true',
};

export function watchTests(server: () => ApiServer): void {
  /** Opens a watch while `run` runs. */
  async function watching(
    path: string,
    query: Record<string, string>,
    run: (next: (count: number) => Promise<Json[]>) => Promise<void>,
  ) {
    const lines = server().stream(path, { watch: '1', ...query });
    try {
      await run((count) => take(lines, count));
    } finally {
      lines.close();
    }
  }

  it('a watch sends the events since its version, then later ones', async () => {
    const path = configMaps(await server().freshNamespace());
    const { resourceVersion } = (await get(server(), path)).metadata;
    const one = await post(server(), path, { metadata: { name: 'a' } });
    const two = await put(server(), `${path}/a`, { ...one, data: { k: '2' } });
    await succeed(server(), 'DELETE', `${path}/a`);
    await watching(path, { resourceVersion }, async (next) => {
      const [added, modified, deleted] = await next(3);
      expect(added).toEqual({ type: 'ADDED', object: one });
      expect(modified).toEqual({ type: 'MODIFIED', object: two });
      expect(deleted.type).toBe('DELETED');
      expect(isNewer(deleted.object, two)).toBe(true);
      const { resourceVersion: version } = deleted.object.metadata;
      expect(deleted.object).toEqual({
        ...two,
        metadata: { ...two.metadata, resourceVersion: version },
      });
      const later = await post(server(), path, { metadata: { name: 'b' } });
      expect(await next(1)).toEqual([{ type: 'ADDED', object: later }]);
    });
    await watching(path, { resourceVersion: two.metadata.resourceVersion }, async (next) => {
      expect((await next(2)).map(short)).toEqual(['DELETED a', 'ADDED b']);
    });
  });

  it('a watch sends no event for an update that changes nothing', async () => {
    const path = configMaps(await server().freshNamespace());
    const one = await post(server(), path, { metadata: { name: 'a' }, data: { k: '1' } });
    const { resourceVersion } = one.metadata;
    await watching(path, { resourceVersion }, async (next) => {
      await put(server(), `${path}/a`, { metadata: { name: 'a' }, data: { k: '1' } });
      await fill(server(), one.metadata.namespace, ['b']);
      expect((await next(1)).map(short)).toEqual(['ADDED b']);
    });
  });

  it('a watch without a version, or at version 0, sends the existing objects first', async () => {
    const namespace = await server().freshNamespace();
    const made = await fill(server(), namespace, ['a', 'b']);
    for (const query of [{}, { resourceVersion: '0' }]) {
      await watching(configMaps(namespace), query, async (next) => {
        const lines = (await next(2)).sort((a, b) => (short(a) < short(b) ? -1 : 1));
        expect(lines).toEqual(made.map((object) => ({ type: 'ADDED', object })));
      });
    }
  });

  it('a watch without a version that allows bookmarks sends an end mark after the existing objects', async () => {
    const namespace = await server().freshNamespace();
    const [a] = await fill(server(), namespace, ['a']);
    await untilCached(server(), configMaps(namespace), a);
    await watching(configMaps(namespace), { allowWatchBookmarks: 'true' }, async (next) => {
      const [added, mark] = await next(2);
      expect(short(added)).toBe('ADDED a');
      expect(mark.object.metadata.annotations).toEqual(END);
    });
  });

  it('a watch with sendInitialEvents sends a list, an end mark, then later events', async () => {
    const namespace = await server().freshNamespace();
    const made = await fill(server(), namespace, ['a', 'b']);
    await watching(configMaps(namespace), STREAMING, async (next) => {
      const lines = await next(3);
      expect(lines.slice(0, 2).map(short).sort()).toEqual(['ADDED a', 'ADDED b']);
      const mark = lines[2];
      expect(mark).toEqual({
        type: 'BOOKMARK',
        object: {
          kind: 'ConfigMap',
          apiVersion: 'v1',
          metadata: { resourceVersion: expect.any(String), annotations: END },
        },
      });
      expect(isNewer(made[1], mark.object)).toBe(false);
      const [later] = await fill(server(), namespace, ['c']);
      expect(await next(1)).toEqual([{ type: 'ADDED', object: later }]);
    });
  });

  it('a streaming list with a selector contains the matching objects', async () => {
    const path = configMaps(await server().freshNamespace());
    for (const name of ['a', 'b']) {
      await post(server(), path, { metadata: { name, labels: { own: name } } });
    }
    await watching(path, { ...STREAMING, labelSelector: 'own=b' }, async (next) => {
      expect((await next(2)).map(short)).toEqual(['ADDED b', 'BOOKMARK']);
    });
  });

  it('a streaming list without allowWatchBookmarks has no end mark', async () => {
    const namespace = await server().freshNamespace();
    await fill(server(), namespace, ['a']);
    const { allowWatchBookmarks: _, ...query } = STREAMING;
    await watching(configMaps(namespace), query, async (next) => {
      expect((await next(1)).map(short)).toEqual(['ADDED a']);
      await fill(server(), namespace, ['b']);
      expect((await next(1)).map(short)).toEqual(['ADDED b']);
    });
  });

  it('a watch with sendInitialEvents=false sends no existing objects', async () => {
    const namespace = await server().freshNamespace();
    await fill(server(), namespace, ['a']);
    await watching(
      configMaps(namespace),
      { sendInitialEvents: 'false', resourceVersionMatch: 'NotOlderThan' },
      async (next) => {
        let isHere = false;
        const first = next(1).finally(() => {
          isHere = true;
        });
        // The watch begins when it is open, and would send the existing objects first.
        let at = 0;
        await eventually(async () => {
          if (!isHere) await fill(server(), namespace, [`b${at++}`]);
          return isHere;
        });
        expect((await first).map(short)).toEqual([expect.stringMatching(/^ADDED b/)]);
      },
    );
  });

  it('a request with watch=false is a list', async () => {
    const path = configMaps(await server().freshNamespace());
    for (const watch of ['0', 'false']) {
      expect((await get(server(), path, { watch })).kind).toBe('ConfigMapList');
    }
  });

  it('a streaming list at a version that the server has not reached sends an ERROR', async () => {
    const path = configMaps(await server().freshNamespace());
    await watching(path, { ...STREAMING, resourceVersion: '999999999' }, async (next) => {
      const [error] = await next(1);
      expect(error.type).toBe('ERROR');
      expect(error.object).toMatchObject({ kind: 'Status', code: 504, reason: 'Timeout' });
      expect(error.object.details.causes[0].reason).toBe('ResourceVersionTooLarge');
    });
  });

  it.each<[Record<string, string>, RegExp]>([
    [{ sendInitialEvents: 'true' }, /sendInitialEvents requires setting resourceVersionMatch/],
    [{ sendInitialEvents: 'false' }, /sendInitialEvents requires setting resourceVersionMatch/],
    [
      { sendInitialEvents: 'true', resourceVersionMatch: 'Exact' },
      /Unsupported value: "Exact": supported values: "NotOlderThan"/,
    ],
    [
      { resourceVersionMatch: 'NotOlderThan' },
      /resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided/,
    ],
  ])('a watch with the options %j is refused', async (query, message) => {
    const path = configMaps(await server().freshNamespace());
    const answer = await server().request('GET', path, { query: { watch: '1', ...query } });
    expectFailure(answer, 422, 'Invalid', message);
    expect(answer.json.details.causes[0].field).toBe('resourceVersionMatch');
  });

  it('a watch at an invalid version is refused with 500', async () => {
    const path = configMaps(await server().freshNamespace());
    const query = { watch: '1', resourceVersion: 'abc' };
    const answer = await server().request('GET', path, { query });
    expectFailure(answer, 500, undefined, /resourceVersion: Invalid value: "abc"/);
  });

  it('a watch with a selector shows objects that begin or cease to match as added or deleted', async () => {
    const path = configMaps(await server().freshNamespace());
    const labelled = (own: string, data: string) => ({
      metadata: { name: 'a', labels: { own } },
      data: { data },
    });
    const { resourceVersion } = (await get(server(), path)).metadata;
    await post(server(), path, labelled('no', '1'));
    const two = await put(server(), `${path}/a`, labelled('yes', '2'));
    const three = await put(server(), `${path}/a`, labelled('yes', '3'));
    const four = await put(server(), `${path}/a`, labelled('no', '4'));
    await put(server(), `${path}/a`, labelled('no', '5'));
    const six = await put(server(), `${path}/a`, labelled('yes', '6'));
    await succeed(server(), 'DELETE', `${path}/a`);
    await watching(path, { resourceVersion, labelSelector: 'own=yes' }, async (next) => {
      const lines = await next(5);
      expect(lines[0]).toEqual({ type: 'ADDED', object: two });
      expect(lines[1]).toEqual({ type: 'MODIFIED', object: three });
      // The last matching state, with the version of the state that does not match.
      const { data, metadata } = lines[2].object;
      expect([lines[2].type, data, metadata.labels]).toEqual([
        'DELETED',
        { data: '3' },
        { own: 'yes' },
      ]);
      expect(metadata.resourceVersion).toBe(four.metadata.resourceVersion);
      expect(lines[3]).toEqual({ type: 'ADDED', object: six });
      expect(short(lines[4])).toBe('DELETED a');
    });
  });

  it('a field selector limits a watch to one object', async () => {
    const namespace = await server().freshNamespace();
    const fieldSelector = 'metadata.name=b';
    await fill(server(), namespace, ['a', 'b']);
    await watching(configMaps(namespace), { fieldSelector }, async (next) => {
      expect((await next(1)).map(short)).toEqual(['ADDED b']);
    });
  });

  it('a watch shows both steps of a deletion with finalizers', async () => {
    const path = configMaps(await server().freshNamespace());
    const finalizers = ['example.com/a'];
    const one = await post(server(), path, { metadata: { name: 'a', finalizers } });
    const marked = await succeed(server(), 'DELETE', `${path}/a`);
    await put(server(), `${path}/a`, { metadata: { name: 'a' }, data: { k: 'last' } });
    const { resourceVersion } = one.metadata;
    await watching(path, { resourceVersion }, async (next) => {
      const [modified, deleted] = await next(2);
      expect(modified).toEqual({ type: 'MODIFIED', object: marked });
      // The update that removed the last finalizer is not shown.
      expect(deleted.type).toBe('DELETED');
      expect(deleted.object).not.toHaveProperty('data');
      expect(deleted.object.metadata.finalizers).toEqual(finalizers);
      expect(isNewer(deleted.object, marked)).toBe(true);
    });
  });

  it('a watch shows the deletion of every object of a deleted collection', async () => {
    const namespace = await server().freshNamespace();
    const path = configMaps(namespace);
    const made = await fill(server(), namespace, ['a', 'b']);
    const { resourceVersion } = made[1].metadata;
    await succeed(server(), 'DELETE', path);
    await watching(path, { resourceVersion }, async (next) => {
      expect((await next(2)).map(short).sort()).toEqual(['DELETED a', 'DELETED b']);
    });
  });

  // The last two tests run at the same time, because they wait for the end of a watch.
  it.concurrent('a watch ends cleanly after timeoutSeconds, with a bookmark shortly before', async () => {
    const namespace = await server().freshNamespace();
    const [a] = await fill(server(), namespace, ['a']);
    const { resourceVersion } = a.metadata;
    // A real server sends bookmarks only for versions newer than that at the start of the watch.
    const others = await server().freshNamespace();
    let at = 0;
    const linesOfOne = async () => {
      const watched = all(
        server().stream(configMaps(namespace), {
          watch: '1',
          resourceVersion,
          allowWatchBookmarks: 'true',
          timeoutSeconds: '4',
        }),
      );
      let isOver = false;
      const over = () => {
        isOver = true;
      };
      watched.then(over, over);
      await eventually(async () => {
        if (!isOver) await fill(server(), others, [`b${at++}`]);
        return isOver;
      });
      return watched;
    };
    // A machine that stood still may have had no newer version in time.
    const lines = await eventually(async () => {
      const taken = await linesOfOne();
      expect(taken.length).toBeGreaterThan(0);
      return taken;
    });
    for (const { type, object } of lines) {
      expect(type).toBe('BOOKMARK');
      const { resourceVersion: version, ...rest } = object.metadata;
      expect(rest).toEqual({});
      expect(BigInt(version) > BigInt(resourceVersion)).toBe(true);
    }
  });

  it.concurrent('a watch without allowWatchBookmarks sends no bookmark', async () => {
    const namespace = await server().freshNamespace();
    await fill(server(), namespace, ['a']);
    const query = { watch: '1', timeoutSeconds: '3' };
    const lines = await allWithin(() => server().stream(configMaps(namespace), query), 1);
    expect(lines.map(short)).toEqual(['ADDED a']);
  });
}
