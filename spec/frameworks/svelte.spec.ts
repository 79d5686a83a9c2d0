/** Tests a view in Svelte. */
import { describe } from 'vitest';
import { importForBrowser } from './client-build.ts';
import { followsTheContract } from './view.contract.ts';

const { mount, mountStore } =
  await importForBrowser<typeof import('./svelte-page.svelte.ts')>('./svelte-page.svelte.ts');

describe('Svelte with createSubscriber', () => followsTheContract({ mount }));
describe('Svelte with a store', () => followsTheContract({ mount: mountStore }));
