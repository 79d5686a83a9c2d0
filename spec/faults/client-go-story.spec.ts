/** What counts as wrong of what client-go tells, and what is its way. */
import { expect, it } from 'vitest';
import { retell, type Told } from './client-go-story.ts';
import { Story, type Thing, Truth } from './judge.ts';

const pod = (uid: string, resourceVersion: string): Thing => ({
  metadata: { namespace: 'a', name: 'p', uid, resourceVersion },
});

/** Of one name: u at 1 and 2, gone at 3, then v at 4. */
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
  const tell = (type: Told['type'], told: string, previous?: string) => {
    const [uid = '', version = ''] = told.split('@');
    const [previousUid = '', previousVersion = ''] = previous?.split('@') ?? [];
    retelling.hear({ type, key: 'a/p', uid, version, previousUid, previousVersion });
  };
  return { story, retelling, tell, wrong };
}

it('takes one update for an end and a start, and counts it', () => {
  const { story, retelling, tell, wrong } = listen();
  tell('add', 'u@1');
  tell('update', 'u@2', 'u@1');
  tell('update', 'v@4', 'u@2');
  story.finish('end');
  expect(wrong).toEqual([]);
  expect(retelling).toMatchObject({ replaced: 1, repeated: 0 });
});

it('takes what is told again as it was for no change, and counts it', () => {
  const { story, retelling, tell, wrong } = listen();
  tell('add', 'v@4');
  tell('update', 'v@4', 'v@4');
  story.finish('end');
  expect(wrong).toEqual([]);
  expect(retelling).toMatchObject({ replaced: 0, repeated: 1 });
});

it('blames an end of what lives, and of what was never told', () => {
  const { tell, wrong } = listen();
  tell('add', 'v@4');
  tell('delete', 'v@4');
  tell('delete', 'u@3');
  expect(wrong).toEqual([
    'client-go: delete a/p v@4: it lives',
    'client-go: delete u: it does not have it',
  ]);
});

it('blames an update of what was never told, and one from another state than was told last', () => {
  const { tell, wrong } = listen();
  tell('update', 'v@4', 'u@2');
  expect(wrong).toEqual(['client-go: delete u: it does not have it']);
  const other = listen();
  other.tell('add', 'u@2');
  other.tell('update', 'u@2', 'u@1');
  expect(other.wrong).toContain('client-go: update a/p u@2: another previous');
});

it('blames a state that the server never had, and a version that goes back', () => {
  const { tell, wrong } = listen();
  tell('add', 'u@2');
  tell('update', 'u@1', 'u@2');
  tell('update', 'u@7', 'u@1');
  expect(wrong).toContain('client-go: update a/p u@1: it was at 2 before');
  expect(wrong).toContain('client-go: update a/p u@7: the server never had that');
});
