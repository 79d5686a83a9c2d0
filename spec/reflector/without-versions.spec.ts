/** Servers whose lists have no version: nothing says where a watch stood, so the next one would miss changes. */
import { afterEach, describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import { key, modified, type Pod, pod, scriptedInformer } from '../support/scripted-list-watch.ts';

const MINUTE_MS = 60_000;

/** An informer whose list had this version and two objects, and what happened to the watch afterwards. */
async function informed(version: string) {
  const time = new VirtualTime();
  const { source, informer } = scriptedInformer({ scheduler: time, random: () => 0.5 });
  informer.start();
  source.listed(version as never, pod('a', 1), pod('b', 1));
  await time.advance(MINUTE_MS);
  return { time, source, informer };
}

const rows = (informer: { indexer: { list(): readonly unknown[] } }) =>
  (informer.indexer.list() as Pod[])
    .map((object) => `${key(object)}@${object.metadata.resourceVersion}`)
    .join(' ');

let stop: () => Promise<unknown> = async () => undefined;
afterEach(() => stop());

const ends = {
  'ends normally': ({ source }) => source.close(),
  'is reset': ({ source }) => source.fail(new Error('reset')),
} satisfies Record<string, (parts: Awaited<ReturnType<typeof informed>>) => void>;

describe.each(['', '0'])('a list of version "%s"', (version) => {
  it.each(Object.entries(ends))(
    'R33: is followed by another list when its watch %s, which has what was changed and deleted meanwhile',
    async (_how, end) => {
      const parts = await informed(version);
      const { time, source, informer } = parts;
      stop = () => informer.stop();
      expect(source.asked).toEqual(['L0', `W${version}`]);
      end(parts);
      source.listed(version as never, pod('a', 2));
      await time.advance(MINUTE_MS);
      expect(rows(informer)).toBe('shop/a@2');
      expect(informer.status).toMatchObject({ phase: 'watching', live: true });
      expect(source.asked.slice(2)).toEqual(['L0', `W${version}`]);
    },
  );

  it('R33: is not repeated once an event has shown a version', async () => {
    const { time, source, informer } = await informed(version);
    stop = () => informer.stop();
    source.send(modified(pod('a', 7)));
    source.close();
    await time.advance(MINUTE_MS);
    expect(source.asked.slice(2)).toEqual(['W7']);
  });
});
