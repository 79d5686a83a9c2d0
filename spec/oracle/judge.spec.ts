/** Tests the judge of the oracle: it accepts correct notifications and rejects each type of wrong ones. */
import { describe, expect, it } from 'vitest';
import { type HistoryEntry, historyOf } from './history.ts';
import { judge, type Licence, type StoryEvent } from './story.ts';

const strict: Licence = { repeats: false, replaces: false, unknownEnds: false };
const lax: Licence = { repeats: true, replaces: true, unknownEnds: true };

/** UID `u1` exists from version 1 to 4, `u2` from 5 on. Version 2 does not match `app=web`. */
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

/** Creates the event `+1`, `~1>3` or `-4`, for the UID that had the version. */
function event(text: string, more: Partial<StoryEvent> = {}): StoryEvent {
  const [, sign = '', first = '', second] = /^([+~-])(\d+)(?:>(\d+))?$/.exec(text) ?? [];
  const uidOf = (version: string) => (Number(version) < 5 ? 'u1' : 'u2');
  const version = second ?? first;
  const base = { key: 'a/one', version, uid: uidOf(version), ...more };
  if (sign === '-') return { type: 'delete', ...base };
  const full = { data: { content: version }, ...base };
  if (sign === '+') return { type: 'add', ...full };
  return { type: 'update', previousVersion: first, previousUid: uidOf(first), ...full };
}

const story = (...texts: string[]) => texts.map((text) => event(text));

describe('the judge', () => {
  it('accepts complete notifications, and a part of them', () => {
    const complete = story('+1', '~1>2', '~2>3', '-4', '+5', '~5>6');
    expect(judge(complete, all, strict, true)).toEqual([]);
    expect(judge(story('+3', '-4', '+6'), all, strict, true)).toEqual([]);
    expect(judge(story('+6'), all, strict, true)).toEqual([]);
  });

  it('counts an object that no selector matches as deleted', () => {
    expect(judge(story('+1', '-2', '+3', '-4', '+6'), web, strict, true)).toEqual([]);
    expect(judge(story('+1', '-2', '+3', '-4', '+6'), all, strict, true)).not.toEqual([]);
    expect(judge(story('+1', '~1>3', '-4', '+6'), web, strict, true)).toEqual([]);
  });

  it('checks a deletion that was missed', () => {
    const missed = [event('+1'), event('-3', { finalUnknown: true }), event('+6')];
    expect(judge(missed, all, strict, true)).toEqual([]);
    const older = [event('+3'), event('-1', { finalUnknown: true }), event('+6')];
    expect(judge(older, all, strict, true)).not.toEqual([]);
    const lives = [event('+6'), event('-6', { finalUnknown: true })];
    expect(judge(lives, all, strict, false)).not.toEqual([]);
  });

  const wrong: Record<string, readonly StoryEvent[]> = {
    'adds twice': story('+1', '+3', '-4', '+6'),
    'updates an unknown object': story('~1>3', '-4', '+6'),
    'deletes an unknown object': story('-4', '+6'),
    'delivers an older state': story('+3', '~3>2', '-4', '+6'),
    'delivers a state twice': story('+6', '~6>6'),
    'names another previous state': [event('+1'), event('~2>3'), event('-4'), event('+6')],
    'updates to another object': story('+3', '~3>5', '~5>6'),
    'invents a version': [event('+1', { version: '7' })],
    'invents content': [event('+6', { data: { content: 'else' } })],
    'ends too early': story('+1', '~1>2', '~2>3', '-4', '+5'),
    'misses a deletion': story('+3'),
    'deletes at another version': story('+1', '-3', '+6'),
    'deletes another object': [event('+1'), event('-4', { uid: 'u2' }), event('+6')],
    'delivers the initial list after other adds': [
      ...story('+3', '-4'),
      event('+6', { initial: true }),
    ],
    'is initial after the sync': [event('+6', { initial: true, synced: true })],
    'is not initial before the sync': [event('+6', { initial: false, synced: false })],
    'marks an update as initial': [event('+5'), event('~5>6', { initial: true })],
  };
  it.each(Object.entries(wrong))('rejects a story that %s', (_name, events) => {
    expect(judge(events, all, strict, true)).not.toEqual([]);
  });

  it('accepts repetitions, replacements and unknown deletions if they are allowed', () => {
    expect(judge(story('+6', '~6>6'), all, lax, true)).toEqual([]);
    expect(judge(story('+3', '~3>5', '~5>6'), all, lax, true)).toEqual([]);
    expect(judge(story('-4', '+6'), all, lax, true)).toEqual([]);
    expect(judge(story('+3', '~3>2', '~2>6'), all, lax, true)).not.toEqual([]);
  });

  it('requires no final state from a removed handler', () => {
    expect(judge(story('+1', '~1>2'), all, strict, false)).toEqual([]);
  });
});
