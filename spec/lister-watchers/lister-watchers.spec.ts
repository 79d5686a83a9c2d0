/** The suite of all ListerWatchers, for those that read an API server. */
import { fakeWorld, KINDS } from './fake-world.ts';
import { listerWatcherSuite } from './suite.ts';

for (const [name, kind] of Object.entries(KINDS)) listerWatcherSuite(name, () => fakeWorld(kind));
