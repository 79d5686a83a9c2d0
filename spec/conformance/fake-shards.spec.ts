/** Runs the conformance tests of `shardSelector` against the fake server, with the feature gate on and off. */
import { expect, it } from 'vitest';
import { get } from './api-server.ts';
import { openFake } from './fake.ts';
import { shardTests } from './shards.ts';

for (const gate of ['on', 'off'] as const) {
  const server = await openFake(false, { shardedListAndWatch: gate === 'on' });
  shardTests(gate, () => server);
}

it('H52: without the option, the fake server ignores a selector, as most servers do', async () => {
  const server = await openFake(false);
  const list = await get(server, '/api/v1/configmaps', { shardSelector: 'garbage' });
  expect(list.metadata).not.toHaveProperty('shardInfo');
});
