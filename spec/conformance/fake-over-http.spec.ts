/** Runs the conformance suite against the fake server over a socket. */
import { openFake } from './fake.ts';
import { apiServerConformance } from './suite.ts';

apiServerConformance('the fake, over HTTP', () => openFake(true));
