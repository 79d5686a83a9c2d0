/** The fake server must do all that the suite sees a real one do: over a socket. */
import { openFake } from './fake.ts';
import { apiServerConformance } from './suite.ts';

apiServerConformance('the fake, over HTTP', () => openFake(true));
