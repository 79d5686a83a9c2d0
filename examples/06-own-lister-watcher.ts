/** An informer over a custom ListerWatcher: a thermometer, without Kubernetes. */

import { createSharedInformer, type ListerWatcher, type WatchSignal } from 'rx-informer';
import { map, of, Subject } from 'rxjs';

interface Room {
  metadata: { name: string; uid: string; resourceVersion: string };
  celsius: number;
}

const readings = new Subject<Room>();
const rooms = new Map<string, Room>();
let version = 1;

function measure(name: string, celsius: number): void {
  const resourceVersion = String(++version);
  const room = { metadata: { name, uid: `room-${name}`, resourceVersion }, celsius };
  rooms.set(name, room);
  readings.next(room);
}

const thermometer: ListerWatcher<Room> = {
  // The source has no streaming lists, so the informer requests a list and then a watch.
  watchList: false,
  list: () => of({ items: [...rooms.values()], metadata: { resourceVersion: String(version) } }),
  watch: () =>
    readings.pipe(
      map((object): WatchSignal<Room> => {
        const key = object.metadata.name;
        return { kind: 'events', events: [{ type: 'MODIFIED', key, object }] };
      }),
    ),
};

measure('kitchen', 21);
measure('cellar', 12);
const informer = createSharedInformer(thermometer, {
  indexers: { warmth: ({ celsius }: Room) => [celsius >= 20 ? 'warm' : 'cold'] },
});
informer.updated$.subscribe(({ previous, object }) => {
  console.log(`${object.metadata.name}: ${previous.celsius} → ${object.celsius}`);
});
await informer.whenSynced({ timeoutMs: 10_000 });
const warm = () => informer.indexer.byIndex('warmth', 'warm').map(({ metadata }) => metadata.name);
console.log(`warm: ${warm().join(' ')}`);
measure('cellar', 23);
await informer.whenObserved('cellar', String(version), { timeoutMs: 10_000 });
console.log(`warm: ${warm().join(' ')}`);
await informer.stop();
