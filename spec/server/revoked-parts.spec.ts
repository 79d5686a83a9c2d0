/** Tests that no part of a large answer is sent after the right to it is gone. */

import { pods } from 'rx-informer/resources';
import { Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { UsersRig } from './users-rig.ts';

const query = {
  from: pods,
  select: { namespace: 'metadata.namespace', text: 'metadata.annotations.text' },
  orderBy: { path: 'metadata.name' },
};

type Rows = {
  readonly differences: readonly {
    readonly reset?: boolean;
    readonly rows?: readonly (readonly [string, number, { readonly namespace: string }])[];
  }[];
};

describe('a first answer in parts', () => {
  it.each<[string, 'all' | string[], string[]]>([
    ['revoked', [], []],
    ['narrowed', ['b'], ['b']],
  ])(
    'E12: when its rights are %s, the parts that were not sent are not sent any more',
    async (_what, later, left) => {
      const rig = new UsersRig();
      let permitted: 'all' | string[] = 'all';
      const changes$ = new Subject<() => boolean>();
      rig.serveShared({ rights: Object.assign(() => permitted, { changes$ }) });
      const annotations = { text: 'x'.repeat(10_000) };
      for (let at = 0; at < 60; at++) {
        const metadata = { namespace: 'a', name: `a-${at}`, annotations };
        rig.api.objects.create(pods, { metadata });
      }
      await rig.pass(2_000);
      const { hello, send, session, received } = rig.raw();
      hello();
      await rig.pass(100);
      send({ type: 'open', id: 1, query, ...session() });
      /** Takes the message that waits, and returns the namespaces of all rows since a message. */
      const take = async (since = 0) => {
        const all = received.filter(({ type }) => type === 'rows');
        send({ type: 'ack', set: all.at(-1)?.['set'], ...session() });
        await rig.pass(200);
        return received
          .slice(since)
          .flatMap(({ differences = [] }) => differences as Rows['differences'])
          .flatMap(({ rows = [] }) => rows.map(([, , { namespace }]) => namespace));
      };
      await rig.pass(200);
      await take();
      expect((await take()).length).toBeLessThan(60);
      permitted = later;
      changes$.next(() => true);
      await rig.pass(2_000);
      const since = received.length;
      for (let at = 0; at < 20; at++) await take(since);
      expect(await take(since)).toEqual(left);
      expect((received[since] as Rows | undefined)?.differences[0]?.reset).toBe(true);
    },
  );
});
