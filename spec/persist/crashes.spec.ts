/** Tests snapshot files with crashes at every byte and suspensions at every operation. */

import { seededRandom } from 'rx-informer/testing';
import { describe, expect, it } from 'vitest';
import { SnapshotLog } from '../../lib/node/snapshots/snapshot-log.ts';
import { campaign } from '../support/campaign.ts';
import { crashes } from './crashes.ts';
import { CrashingDisk } from './crashing-disk.ts';

const CRASHES = { name: 'CRASH', seeds: 12, command: 'spec/persist/crashes.spec.ts' };

describe('a snapshot file', () => {
  it('P22: has, after a crash at any byte or a suspension at any operation, the last state that was stored or the one that was being stored', async () => {
    const { wrong } = await campaign(CRASHES, async (seed) => ({ wrong: await crashes(seed) }));
    expect(wrong).toEqual([]);
  });

  it('P18: is read as a state that was stored, as damaged or as of another format, whichever byte has changed', async () => {
    const before = new CrashingDisk();
    const log = new SnapshotLog(before, 'one.snapshot');
    const write = (version: number, replaces: boolean, keys: readonly string[]) =>
      log.write('id', {
        ...{ head: 'head', resourceVersion: String(version), savedAtMs: version, replaces },
        objects: keys.map((key) => [key, Buffer.from(`{"${key}":${version}}`)] as const),
        deleted: replaces ? [] : ['b'],
      });
    const states = ['1: {"a":1} {"b":1} {"c":1}', '2: {"a":1} {"c":2}', '3: {"a":3} {"c":2}'];
    await write(1, true, ['a', 'b', 'c']);
    await write(2, false, ['c']);
    await write(3, false, ['a']);
    const whole = before.remains(() => true).get('one.snapshot') ?? Buffer.alloc(0);
    const found = new Map<string, number>();
    for (let at = -1; at < whole.length; at++) {
      const bytes = Buffer.from(whole);
      if (at >= 0) bytes.writeUInt8(bytes.readUInt8(at) ^ 0x10, at);
      const files = new CrashingDisk(new Map([['one.snapshot', bytes]]));
      const stored = await new SnapshotLog(files, 'one.snapshot').read();
      const texts: string[] = [];
      let is = stored?.head === '' ? 'of another format' : '';
      try {
        for await (const part of stored?.parts ?? [])
          texts.push(...part.map((json) => Buffer.from(json).toString()));
        is ||= `${stored?.resourceVersion}: ${texts.sort().join(' ')}`;
      } catch {
        is = 'damaged';
      }
      if (at < 0) expect(is).toBe(states[2]);
      found.set(is, (found.get(is) ?? 0) + 1);
    }
    expect([...found.keys()].sort()).toEqual([...states, 'damaged', 'of another format']);
  });

  it('P23: is written with at most 2.2 times the bytes of the changes', async () => {
    const random = seededRandom(7);
    const disk = new CrashingDisk();
    const snapshots = new SnapshotLog(disk, 'one.snapshot');
    const contents = new Map<string, Buffer>();
    let changed = 0;
    let rewrite = true;
    let rewritten = 0;
    const object = () =>
      Buffer.from(JSON.stringify({ text: 'x'.repeat(2_000 + random() * 2_000) }));
    for (let key = 0; key < 500; key++) contents.set(`shop/pod-${key}`, object());
    for (const json of contents.values()) changed += json.length;
    for (let version = 1; version <= 600; version++) {
      const objects: [string, Buffer][] = [];
      for (let count = 0; count < 10; count++) {
        const key = `shop/pod-${Math.floor(random() * 500)}`;
        const json = object();
        contents.set(key, json);
        objects.push([key, json]);
        changed += json.length;
      }
      const change = {
        head: 'h',
        resourceVersion: String(version),
        savedAtMs: version,
        deleted: [],
      };
      if (rewrite) rewritten++;
      const answer = await snapshots.write('id', {
        ...change,
        replaces: rewrite,
        objects: rewrite ? contents : objects,
      });
      rewrite = answer === 'rewrite';
    }
    expect(rewritten).toBeGreaterThan(5);
    expect(disk.bytesWritten / changed).toBeLessThan(2.2);
  });
});
