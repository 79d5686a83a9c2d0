/** The configuration of the browser suite: the dashboard, and informers in pages, in Chromium. */
import { leftToNight } from '../support/gate.ts';
import { specFile, suiteOfParts } from '../support/suite.ts';

export default suiteOfParts(
  {
    setupFiles: [specFile('support/setup.ts')],
    longest: [
      '/react.browser.ts',
      '/connections.browser.ts',
      '/tabs.browser.ts',
      '/dashboard-axe.browser.ts',
      '/dashboard-page.browser.ts',
    ],
    // The Vite configurations of the documentation import the library.
    execArgv: ['--conditions=rx-informer-source'],
  },
  {
    name: 'beside each other',
    include: ['spec/browser/**/*.browser.ts'],
    exclude: [...leftToNight],
    // Many tests wait for turns and timers, so more run than there are cores.
    maxWorkers: 3,
  },
  {
    // They measure the page, so nothing else runs beside them, and no gate runs them.
    name: 'night',
    include: ['spec/browser/**/*.night.ts'],
    maxWorkers: 1,
  },
);
