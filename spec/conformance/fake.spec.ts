/** Runs the conformance suite against the fake server in process. */
import { expect, it } from 'vitest';
import { openFake } from './fake.ts';
import { apiServerConformance } from './suite.ts';

it('A1: the fake server lacks only the capabilities that the suite knows', async () => {
  const { capabilities } = await openFake(false);
  const lacking = Object.entries(capabilities).filter(([, has]) => !has);
  expect(lacking.map(([name]) => name)).toEqual(['fieldOwnership', 'garbageCollection']);
});

apiServerConformance('the fake, in process', () => openFake(false));
