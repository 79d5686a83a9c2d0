/** The fake server must do all that the suite sees a real one do: in process. */
import { expect, it } from 'vitest';
import { openFake } from './fake.ts';
import { apiServerConformance } from './suite.ts';

it('A1: differs from a real server on purpose only where the suite can tell', async () => {
  const { capabilities } = await openFake(false);
  const lacking = Object.entries(capabilities).filter(([, has]) => !has);
  expect(lacking.map(([name]) => name)).toEqual(['fieldOwnership', 'garbageCollection']);
});

apiServerConformance('the fake, in process', () => openFake(false));
