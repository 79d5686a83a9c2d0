/** The suite of all ListerWatchers, for those that read an API server. */

import { expect, it } from 'vitest';
import { PLANTED } from '../mutation/planted.ts';
import { fakeWorld, KINDS } from './fake-world.ts';
import { listerWatcherSuite, scenarios } from './suite.ts';

for (const [name, kind] of Object.entries(KINDS)) listerWatcherSuite(name, () => fakeWorld(kind));

it('each scenario of the suite has a planted fault, which it must notice', () => {
  const titles: string[] = [];
  scenarios((title) => titles.push(title));
  const hasFault = (title: string) => PLANTED.some((fault) => title.startsWith(fault.title));
  expect(titles.filter((title) => !hasFault(title))).toEqual([]);
});
