/** Loads the code of the guards before each spec, because no promise is resolved at a moment of virtual time. */
import { loadGuards } from '../../lib/transport/guards/watch-guards.ts';

await loadGuards();
