/** A view as a stream. */
import type { View, ViewSnapshot } from 'rx-informer';
import { Observable } from 'rxjs';

/** What a view shows, now and after each change. */
export function snapshotsOf<R>(view: View<R>): Observable<ViewSnapshot<R>> {
  return new Observable((subscriber) => {
    const look = () => subscriber.next(view.getSnapshot());
    const leave = view.subscribe(look);
    look();
    return leave;
  });
}
