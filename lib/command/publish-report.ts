/** What `rx-informer publish` says about one kind. */
import { type Observable, Subscription } from 'rxjs';
import { distinctUntilChanged } from 'rxjs/operators';
import type { InformerStatus } from '../informer/status/status.ts';
import type { NatsPublisherStatus } from '../nats/index.ts';

/** Whether two states need one line only. Versions and waits differ all the time. */
function isSameState(a: NatsPublisherStatus, b: NatsPublisherStatus): boolean {
  if (a.phase !== b.phase || a.tooLarge.length !== b.tooLarge.length) return false;
  if (a.unwritable.length !== b.unwritable.length) return false;
  return a.phase === 'publishing' || a.phase === 'backoff'
    ? a.error?.message === b.error?.message
    : a.message === b.message;
}

function publisherLine({ phase, message, objects }: NatsPublisherStatus): string {
  return phase === 'publishing'
    ? `${phase}: ${objects} objects; ${message}`
    : `${phase}: ${message}`;
}

/** Calls `say` with a line for each state of a publisher and of its informer, until it is unsubscribed. */
export function reportPublisher(
  name: string,
  publisher$: Observable<NatsPublisherStatus>,
  informer$: Observable<InformerStatus>,
  say: (line: string) => void,
): Subscription {
  const reports = new Subscription();
  reports.add(
    publisher$
      .pipe(distinctUntilChanged(isSameState))
      .subscribe((status) => say(`${name}: ${publisherLine(status)}`)),
  );
  let failure: string | undefined;
  reports.add(
    informer$.subscribe(({ error, live }) => {
      if (error !== undefined && error.message !== failure) {
        failure = error.message;
        say(`${name}: the API server cannot be followed: ${failure}`);
      } else if (live && failure !== undefined) {
        failure = undefined;
        say(`${name}: the API server is followed again`);
      }
    }),
  );
  return reports;
}
