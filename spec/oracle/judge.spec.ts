/** The judge of the oracle lets true stories through and sees each kind of false one. */
import { describe, expect, it } from 'vitest';
import { type HistoryEntry, historyOf } from './history.ts';
import { judge, type Licence, type StoryEvent } from './story.ts';

const strict: Licence = { repeats: false, replaces: false, unknownEnds: false };
const lax: Licence = { repeats: true, replaces: true, unknownEnds: true };

/** `u1` lives from 1 to 4, `u2` from 5 on; 2 does not match `app=web`. */
const entries: readonly HistoryEntry[] = [
  ['1', 'u1', 'web'],
  ['2', 'u1', 'db'],
  ['3', 'u1', 'web'],
  ['4', 'u1'],
  ['5', 'u2', 'web'],
  ['6', 'u2', 'web'],
].map(([version = '', uid = '', app]) => {
  const key = 'a/one';
  if (app === undefined) return { key, version, uid };
  const metadata = { namespace: 'a', name: 'one', uid, resourceVersion: version, labels: { app } };
  return { key, version, uid, object: { metadata, data: { content: version } } };
});
const all = historyOf(entries, { namespace: '', labelSelector: '' });
const web = historyOf(entries, { namespace: '', labelSelector: 'app=web' });

/** `+1`, `~1>3` or `-4`, of the UID that had the version. */
function told(text: string, more: Partial<StoryEvent> = {}): StoryEvent {
  const [, sign = '', first = '', second] = /^([+~-])(\d+)(?:>(\d+))?$/.exec(text) ?? [];
  const uidOf = (version: string) => (Number(version) < 5 ? 'u1' : 'u2');
  const version = second ?? first;
  const event = { key: 'a/one', version, uid: uidOf(version), ...more };
  if (sign === '-') return { type: 'delete', ...event };
  const full = { data: { content: version }, ...event };
  if (sign === '+') return { type: 'add', ...full };
  return { type: 'update', previousVersion: first, previousUid: uidOf(first), ...full };
}

const story = (...texts: string[]) => texts.map((text) => told(text));

describe('the judge of stories', () => {
  it('lets a story through that tells all, and one that tells a part', () => {
    const whole = story('+1', '~1>2', '~2>3', '-4', '+5', '~5>6');
    expect(judge(whole, all, strict, true)).toEqual([]);
    expect(judge(story('+3', '-4', '+6'), all, strict, true)).toEqual([]);
    expect(judge(story('+6'), all, strict, true)).toEqual([]);
  });

  it('takes an object that no selector matches for gone', () => {
    expect(judge(story('+1', '-2', '+3', '-4', '+6'), web, strict, true)).toEqual([]);
    expect(judge(story('+1', '-2', '+3', '-4', '+6'), all, strict, true)).not.toEqual([]);
    expect(judge(story('+1', '~1>3', '-4', '+6'), web, strict, true)).toEqual([]);
  });

  it('knows the end of an object whose end was missed', () => {
    const missed = [told('+1'), told('-3', { finalUnknown: true }), told('+6')];
    expect(judge(missed, all, strict, true)).toEqual([]);
    const older = [told('+3'), told('-1', { finalUnknown: true }), told('+6')];
    expect(judge(older, all, strict, true)).not.toEqual([]);
    const lives = [told('+6'), told('-6', { finalUnknown: true })];
    expect(judge(lives, all, strict, false)).not.toEqual([]);
  });

  const wrong: Record<string, readonly StoryEvent[]> = {
    'adds twice': story('+1', '+3', '-4', '+6'),
    'updates what is not there': story('~1>3', '-4', '+6'),
    'deletes what is not there': story('-4', '+6'),
    'goes back': story('+3', '~3>2', '-4', '+6'),
    'tells a state twice': story('+6', '~6>6'),
    'tells another previous': [told('+1'), told('~2>3'), told('-4'), told('+6')],
    'swaps the object': story('+3', '~3>5', '~5>6'),
    'makes a version up': [told('+1', { version: '7' })],
    'makes content up': [told('+6', { data: { content: 'else' } })],
    'stops too early': story('+1', '~1>2', '~2>3', '-4', '+5'),
    'forgets a deletion': story('+3'),
    'deletes at another version': story('+1', '-3', '+6'),
    'deletes another object': [told('+1'), told('-4', { uid: 'u2' }), told('+6')],
    'tells the first list after other adds': [...story('+3', '-4'), told('+6', { initial: true })],
    'is initial after it was synced': [told('+6', { initial: true, synced: true })],
    'is not initial before it was synced': [told('+6', { initial: false, synced: false })],
    'takes an update for the first list': [told('+5'), told('~5>6', { initial: true })],
  };
  it.each(Object.entries(wrong))('sees a story that %s', (_name, events) => {
    expect(judge(events, all, strict, true)).not.toEqual([]);
  });

  it('lets those repeat, replace and end the unknown who may', () => {
    expect(judge(story('+6', '~6>6'), all, lax, true)).toEqual([]);
    expect(judge(story('+3', '~3>5', '~5>6'), all, lax, true)).toEqual([]);
    expect(judge(story('-4', '+6'), all, lax, true)).toEqual([]);
    expect(judge(story('+3', '~3>2', '~2>6'), all, lax, true)).not.toEqual([]);
  });

  it('asks a handler that was removed for no end', () => {
    expect(judge(story('+1', '~1>2'), all, strict, false)).toEqual([]);
  });
});
