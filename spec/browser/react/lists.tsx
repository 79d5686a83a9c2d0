/** Scenarios of lists, objects and the status. */
import { memo } from 'react';
import { liveQuery, type Stored } from 'rx-informer';
import {
  type ListResult,
  useInformer,
  useList,
  useObject,
  useQuery,
  useQueryStatus,
  useStatus,
} from 'rx-informer/react';
import { type Pod, pods } from 'rx-informer/resources';
import { createRig, distinct, frames, note, type Rig, until } from './rig.tsx';

function add(rig: Rig, namespace: string, name: string, phase = 'Running'): Pod {
  return rig.server.objects.create(pods, { metadata: { namespace, name }, status: { phase } });
}

function setPhase(rig: Rig, pod: Pod, phase: string): void {
  rig.server.objects.update(pods, { ...pod, status: { phase } });
}

const namesOf = ({ rows }: ListResult<Pod>) => rows.map(({ metadata }) => metadata?.name).join();

/** Three components with the same pods. */
export async function strictMode(options: { isStrict: boolean; lingerMs: number }) {
  const rig = createRig();
  add(rig, 'shop', 'web');
  const All = () => <p>{namesOf(useList(pods))}</p>;
  const Same = () => <p>{namesOf(useQuery(liveQuery({ from: pods })))}</p>;
  const Held = () => <p>{useInformer(pods)?.name}</p>;
  rig.show([<All key="1" />, <Same key="2" />, <Held key="3" />], options);
  await until(() => rig.text() === 'webwebpods', rig.text);
  await frames(10);
  const mounted = { watches: rig.watches(), open: rig.server.openWatches.length };
  rig.unmount();
  await until(() => rig.server.openWatches.length === 0);
  return { mounted, requests: rig.server.requests.map(({ use }) => use) };
}

/** One of a thousand pods changes. */
export async function oneOfThousand() {
  const rig = createRig();
  for (let at = 0; at < 1_000; at++) add(rig, 'shop', `pod-${String(at).padStart(4, '0')}`);
  const rendered: string[] = [];
  const Row = memo(function Row({ pod }: { pod: Stored<Pod> }) {
    note(rendered, pod.metadata.name);
    return (
      <li>
        {pod.metadata.name}: {pod.status?.phase}
      </li>
    );
  });
  const containers: number[] = [];
  function Table() {
    const { rows } = useList(pods, { orderBy: { path: 'metadata.name' } });
    note(containers, rows.length);
    return (
      <ul>
        {rows.map((pod) => (
          <Row key={pod.metadata.uid} pod={pod} />
        ))}
      </ul>
    );
  }
  rig.show(<Table />);
  await until(() => document.querySelectorAll('li').length === 1_000);
  await frames(3);
  rendered.length = 0;
  containers.length = 0;
  const [pod] = rig.server.objects
    .list(pods)
    .filter(({ metadata }) => metadata?.name === 'pod-0500');
  setPhase(rig, pod as Pod, 'Failed');
  await until(() => rig.text().includes('pod-0500: Failed'));
  await frames(3);
  rig.unmount();
  return { rendered, containers: containers.length };
}

/** The namespace changes, twice in a row, and then to none. */
export async function changedArguments() {
  const rig = createRig();
  add(rig, 'shop', 'web');
  add(rig, 'till', 'cash');
  add(rig, 'bank', 'gold');
  const seen: string[] = [];
  function List({ namespace }: { namespace: string | undefined }) {
    const result = useList(namespace === undefined ? undefined : pods, {
      namespace: namespace ?? '',
    });
    note(
      seen,
      `${namesOf(result)} ${result.synced ? 'synced' : ''} ${result.stale ? 'stale' : ''}`,
    );
    return namesOf(result);
  }
  rig.show(<List namespace="shop" />);
  await until(() => seen.includes('web synced '));
  rig.show(<List namespace="till" />);
  rig.show(<List namespace="bank" />);
  await until(() => rig.text() === 'gold');
  rig.show(<List namespace={undefined} />);
  await until(() => rig.text() === '');
  rig.unmount();
  return distinct(seen.slice(seen.indexOf('web synced ')));
}

/** Options that are written in place, in a component that renders often. */
export async function optionsInPlace() {
  const rig = createRig();
  add(rig, 'shop', 'web');
  const queries: number[] = [];
  function List({ count }: { count: number }) {
    const { rows } = useList(pods, {
      where: { path: 'status.phase', in: ['Running'] },
      select: { key: 'name', project: ({ metadata }) => ({ name: metadata.name }) },
    });
    note(queries, count);
    return rows.map(({ name }) => name).join();
  }
  for (let count = 0; count < 5; count++) {
    rig.show(<List count={count} />);
    await until(() => queries.includes(count));
  }
  await until(() => rig.text() === 'web');
  await frames(10);
  const result = { watches: rig.watches(), open: rig.server.openWatches.length };
  rig.unmount();
  return result;
}

/** An object that is watched alone, deleted, and created again. */
export async function oneObject() {
  const rig = createRig();
  const web = add(rig, 'shop', 'web');
  add(rig, 'shop', 'other');
  const seen: string[] = [];
  function Pane({ uid }: { uid?: string | undefined }) {
    const { object, synced } = useObject(pods, { namespace: 'shop', name: 'web', uid });
    const text = object?.status?.phase ?? (synced ? 'gone' : 'loading');
    note(seen, uid === undefined ? `any ${text}` : text);
    return text;
  }
  const both = [<Pane key="1" />, <Pane key="2" uid={web.metadata?.uid} />];
  rig.show(both);
  await until(() => rig.text() === 'RunningRunning', rig.text);
  await until(() => rig.server.openWatches.length > 0);
  const selectors = rig.server.openWatches.map(({ request }) => request.query['fieldSelector']);
  rig.server.objects.delete(pods, { namespace: 'shop', name: 'web' });
  await until(() => rig.text() === 'gonegone', rig.text);
  add(rig, 'shop', 'web', 'Pending');
  await until(() => rig.text() === 'Pendinggone', rig.text);
  rig.unmount();
  return { selectors, seen: distinct(seen) };
}

/** An object beside the list that contains it. */
export async function coveredObject() {
  const rig = createRig();
  add(rig, 'shop', 'web');
  const List = () => namesOf(useList(pods));
  const Pane = () => useObject(pods, { namespace: 'shop', name: 'web' }).object?.status?.phase;
  rig.show(<List />);
  await until(() => rig.text() === 'web');
  rig.show([<List key="1" />, <Pane key="2" />]);
  await until(() => rig.text().includes('Running'));
  const result = rig.watches();
  rig.unmount();
  return result;
}

/** The server refuses the list. */
export async function forbidden() {
  const rig = createRig();
  const fault = rig.server.faults.failNext({}, { status: 403, times: 1e9 });
  function List() {
    const { rows, synced, error } = useList(pods);
    return `${rows.length} ${synced} ${error?.name}`;
  }
  const Status = () => ` ${useStatus().error?.name} ${useStatus().status.blocked}`;
  rig.show([<List key="1" />, <Status key="2" />]);
  await until(() => rig.text().includes('ApiError ApiError'), rig.text);
  const text = rig.text();
  fault.heal();
  rig.unmount();
  return text;
}

/** Rows change, and the status does not. */
export async function quietStatus() {
  const rig = createRig();
  const web = add(rig, 'shop', 'web');
  const renders: unknown[] = [];
  const query = liveQuery({ from: pods });
  const List = () =>
    useList(pods)
      .rows.map(({ status }) => status?.phase)
      .join();
  function Status() {
    const { status } = useQueryStatus(query);
    note(renders, status);
    return status.live === true ? ' live' : ' not live';
  }
  rig.show([<List key="1" />, <Status key="2" />]);
  await until(() => rig.text() === 'Running live', rig.text);
  await frames(3);
  renders.length = 0;
  setPhase(rig, web, 'Failed');
  await until(() => rig.text() === 'Failed live', rig.text);
  await frames(3);
  rig.unmount();
  return renders.length;
}

/** Another client for the same provider. */
export async function anotherClient() {
  const [one, other] = [createRig(), createRig()];
  add(one, 'shop', 'web');
  add(other, 'shop', 'cash');
  const List = () => namesOf(useList(pods));
  one.show(<List />);
  await until(() => one.text() === 'web');
  one.show(<List />, { client: other.client });
  await until(() => one.text() === 'cash', one.text);
  await until(() => one.server.openWatches.length === 0 && other.server.openWatches.length > 0);
  const open = other.server.openWatches.length;
  one.unmount();
  await until(() => other.server.openWatches.length === 0);
  return open;
}
