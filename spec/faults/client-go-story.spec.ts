/** Tests which notifications of client-go count as wrong, and which differ only by its design. */
import { expect, it } from 'vitest';
import { type HandlerCall, retell } from './client-go-story.ts';
import { Story, type Thing, Truth } from './judge.ts';

const pod = (uid: string, resourceVersion: string): Thing => ({
  metadata: { namespace: 'a', name: 'p', uid, resourceVersion },
});

/** The history of one name: UID u at versions 1 and 2, deleted at 3, then UID v at 4. */
function listen() {
  const truth = new Truth();
  for (const version of ['1', '2']) truth.wrote(pod('u', version));
  truth.deleted('u', '3');
  truth.wrote(pod('v', '4'));
  const wrong: string[] = [];
  const story = new Story('client-go', truth, () => true, wrong);
  const retelling = retell(story, ({ uid, resourceVersion }) => {
    return truth.state(uid, BigInt(resourceVersion)) ?? pod(uid, resourceVersion);
  });
  const notify = (type: HandlerCall['type'], state: string, previous?: string) => {
    const [uid = '', version = ''] = state.split('@');
    const [previousUid = '', previousVersion = ''] = previous?.split('@') ?? [];
    retelling.hear({ type, key: 'a/p', uid, version, previousUid, previousVersion });
  };
  return { story, retelling, notify, wrong };
}

it('counts an update to another UID as a deletion and an addition', () => {
  const { story, retelling, notify, wrong } = listen();
  notify('add', 'u@1');
  notify('update', 'u@2', 'u@1');
  notify('update', 'v@4', 'u@2');
  story.finish('end');
  expect(wrong).toEqual([]);
  expect(retelling).toMatchObject({ replaced: 1, repeated: 0 });
});

it('counts an update to the same state, and accepts it', () => {
  const { story, retelling, notify, wrong } = listen();
  notify('add', 'v@4');
  notify('update', 'v@4', 'v@4');
  story.finish('end');
  expect(wrong).toEqual([]);
  expect(retelling).toMatchObject({ replaced: 0, repeated: 1 });
});

it('rejects the deletion of an object that exists, and of one that was never delivered', () => {
  const { notify, wrong } = listen();
  notify('add', 'v@4');
  notify('delete', 'v@4');
  notify('delete', 'u@3');
  expect(wrong).toEqual([
    'client-go: delete a/p v@4: the object still exists',
    'client-go: delete u: the consumer does not have the object',
  ]);
});

it('rejects an update of an object that was never delivered, and an update from another state than the last', () => {
  const { notify, wrong } = listen();
  notify('update', 'v@4', 'u@2');
  expect(wrong).toEqual(['client-go: delete u: the consumer does not have the object']);
  const other = listen();
  other.notify('add', 'u@2');
  other.notify('update', 'u@2', 'u@1');
  expect(other.wrong).toContain(
    'client-go: update a/p u@2: previous is not the last state of the consumer',
  );
});

it('rejects a state that the server never had, and an older version', () => {
  const { notify, wrong } = listen();
  notify('add', 'u@2');
  notify('update', 'u@1', 'u@2');
  notify('update', 'u@7', 'u@1');
  expect(wrong).toContain('client-go: update a/p u@1: already at version 2');
  expect(wrong).toContain('client-go: update a/p u@7: the server never had this state');
});
