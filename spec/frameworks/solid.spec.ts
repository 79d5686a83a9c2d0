/** Tests a view in Solid. */
import { describe } from 'vitest';
import { importForBrowser } from './client-build.ts';
import { followsTheContract } from './view.contract.ts';

const { mount } = await importForBrowser<typeof import('./solid-page.ts')>('./solid-page.ts');

describe('Solid', () => followsTheContract({ mount }));
