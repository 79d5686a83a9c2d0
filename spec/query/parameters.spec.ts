/** Constant parameters of live operators: what is invalid throws where it is given. */
import {
  liveFilter,
  liveFlatMap,
  liveGroupBy,
  liveJoin,
  liveMap,
  liveMergeMap,
  liveSort,
  liveTop,
  liveUnion,
  liveUntil,
  liveWindow,
} from 'rx-informer';
import { NEVER } from 'rxjs';
import { describe, expect, it } from 'vitest';

const no = undefined as never;
const sortsByName = 'name' as never;

const calls: Readonly<Record<string, () => unknown>> = {
  'liveFilter: label selector': () => liveFilter(no),
  'liveFilter: label selector null: it must be text': () => liveFilter(null as never),
  'liveFilter: label selector "a in"': () => liveFilter('a in'),
  'liveMap: project is undefined; it must be a function': () => liveMap(no),
  'liveFlatMap: project is undefined; it must be a function': () => liveFlatMap(no),
  'liveMergeMap: project is undefined; it must be a function': () => liveMergeMap(no),
  'liveSort: compare is "name"; it must be a function': () => liveSort(sortsByName),
  'liveTop: compare is undefined; it must be a function': () => liveTop(3, no),
  'liveTop: n is -1; it must be a whole number': () => liveTop(-1, () => 0),
  'liveUntil: timeOf is undefined; it must be a function': () => liveUntil(no),
  'liveWindow: limit is undefined; it must be a whole number': () => liveWindow(0, no),
  'liveGroupBy: key is undefined; it must be a function': () => liveGroupBy(no, {}),
  'liveJoin: on is undefined; it must be': () => liveJoin(NEVER, { on: no }),
  'liveJoin: options is undefined; it must be': () => liveJoin(NEVER, no),
  'liveUnion: sources is undefined; it must be': () => liveUnion(no),
  'liveWindow: offset is null; it must be a whole number': () => liveWindow(null as never, 1),
};

describe('a constant parameter', () => {
  it.each(Object.entries(calls))('Q22, Q37: throws if it is invalid: %s', (message, call) => {
    expect(call).toThrow(TypeError);
    expect(call).toThrow(message);
  });
});
