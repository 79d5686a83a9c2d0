/** Imports the entry for NATS. */
import { createNatsListWatch, natsReaderSubjects, publishToNats } from 'rx-informer/nats';
import { tell } from './settings.ts';

tell({
  types: [createNatsListWatch, natsReaderSubjects, publishToNats].map((each) => typeof each),
});
