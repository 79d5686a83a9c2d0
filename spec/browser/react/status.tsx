/** Scenarios of the status, and of rows that are outdated. */
import { Suspense, useMemo } from 'react';
import {
  createInformerFactory,
  describeStatus,
  type InformerFactory,
  liveQuery,
  type Stored,
  toView,
} from 'rx-informer';
import {
  type ListResult,
  useInformer,
  useList,
  useQuery,
  useStatus,
  useSuspenseQuery,
  useView,
} from 'rx-informer/react';
import { type Pod, pods } from 'rx-informer/resources';
import { projections } from '../../support/projections.ts';
import { createRig, distinct, frames, note, type Rig, until } from './rig.tsx';

const shop = { namespace: 'shop' };

function add(rig: Rig, namespace: string, name: string): void {
  rig.server.objects.create(pods, {
    metadata: { namespace, name },
    status: { phase: 'Running' },
  });
}

/** Forbids a namespace. */
function forbid(rig: Rig, namespace: string): void {
  rig.server.faults.failNext(({ path }) => path.includes(`/namespaces/${namespace}/`), {
    status: 403,
    message: `no access to ${namespace}`,
    times: 1e9,
  });
}

const namesOf = ({ rows }: ListResult<Pod>) => rows.map(({ metadata }) => metadata?.name).join();

/** The columns change, and then only the metadata are requested. */
export async function changedColumns() {
  const rig = createRig();
  add(rig, 'shop', 'web');
  const seen: string[] = [];
  function List({ at, options }: { at: number; options: object }) {
    const { rows, stale } = useList(pods, { ...shop, ...options });
    const row = rows[0] as (Partial<Stored<Pod>> & { readonly name?: string }) | undefined;
    const text = row === undefined ? 'none' : row.metadata === undefined ? 'row' : row.kind;
    // The former columns may be rendered once more before the next ones are asked for.
    note(seen, `${at}: ${text} stale ${stale}`);
    return text;
  }
  const kinds = [{}, { select: { name: 'metadata.name' } }, { as: 'metadata' }, {}];
  const shown: string[] = [];
  for (const [at, options] of kinds.entries()) {
    rig.show(<List at={at} options={options} />, { projections });
    const wanted = ['Pod', 'row', 'PartialObjectMetadata', 'Pod'][at];
    await until(() => rig.text() === wanted, rig.text);
    const own = distinct(seen).filter((text) => text.startsWith(`${at}: `));
    shown.push(own.map((text) => text.slice(3)).join());
  }
  rig.unmount();
  return shown;
}

/** A query that is made once is shown again after the linger, when its object was replaced. */
export async function keptQuery(suspends: boolean) {
  const rig = createRig();
  const options = { lingerMs: 100 };
  add(rig, 'shop', 'old');
  const query = liveQuery({ from: pods, ...shop });
  const seen: string[] = [];
  const useRows = suspends ? useSuspenseQuery : useQuery;
  function Names() {
    const result = useRows(query);
    const text = `${namesOf(result as ListResult<Pod>)} synced ${result.synced}`;
    note(seen, text);
    return text;
  }
  const page = (
    <Suspense fallback="loading">
      <Names />
    </Suspense>
  );
  rig.show(page, options);
  await until(() => rig.text() === 'old synced true', rig.text);
  rig.show(null, options);
  await until(() => rig.server.openWatches.length === 0);
  await frames(10);
  rig.server.objects.delete(pods, { namespace: 'shop', name: 'old' });
  add(rig, 'shop', 'new');
  const delay = rig.server.faults.delay(300, {});
  seen.length = 0;
  rig.show(page, options);
  await until(() => rig.text() !== '', rig.text);
  const first = seen[0] ?? rig.text();
  delay.heal();
  await until(() => rig.text() === 'new synced true', rig.text);
  const last = rig.text();
  rig.unmount();
  return { first, last };
}

function Names({ suspends }: { suspends: boolean }) {
  const useRows = suspends ? useSuspenseQuery : useQuery;
  const result = useRows(liveQuery({ from: pods, ...shop })) as ListResult<Pod>;
  return `${namesOf(result)} stale ${result.stale}`;
}

/** The informer of a list is stopped and removed, and requested again by another component. */
export async function removedInformer(suspends: boolean) {
  const rig = createRig();
  add(rig, 'shop', 'old');
  const factory: InformerFactory = createInformerFactory(rig.client);
  factory.start();
  function Informer() {
    const informer = useInformer(pods, shop);
    const { status } = useStatus(informer);
    return ` ${informer?.name} ${status.phase}`;
  }
  const Words = () => ` ${describeStatus(useStatus()).headline}`;
  const page = (more?: React.ReactNode) => (
    <Suspense fallback="loading">
      <Names suspends={suspends} />
      <Informer />
      <Words />
      {more}
    </Suspense>
  );
  rig.show(page(), { factory });
  await until(() => rig.text() === 'old stale false pods/shop watching Live', rig.text);
  await factory.stop(pods, shop);
  rig.server.objects.delete(pods, { namespace: 'shop', name: 'old' });
  add(rig, 'shop', 'new');
  rig.server.clearRequests();
  await until(() => rig.text().startsWith('old stale true'), rig.text);
  await frames(10);
  const [stopped, requests] = [rig.text(), rig.server.requests.length];
  const another = (
    <>
      {' '}
      <Names suspends={false} />
    </>
  );
  rig.show(page(another), { factory });
  const live = 'new stale false pods/shop watching Live new stale false';
  await until(() => rig.text() === live, rig.text);
  const { informers } = factory;
  const shown = rig.text();
  rig.unmount();
  await factory.stop();
  return { stopped, requests, shown, informers };
}

/** The status of what a page reads while that changes. */
export async function mergedStatus() {
  const rig = createRig();
  add(rig, 'shop', 'web');
  forbid(rig, 'vault');
  const factory: InformerFactory = createInformerFactory(rig.client, {
    onWarning: () => undefined,
  });
  // Of other code, which no hook reads.
  factory.informer(pods, { namespace: 'vault' });
  factory.start();
  function Words() {
    const result = useStatus();
    const { synced, live } = result.status;
    return `${synced} ${live} ${describeStatus(result).text}`;
  }
  const List = ({ namespace }: { namespace: string }) => {
    useList(pods, { namespace });
    return null;
  };
  function Informer() {
    const informer = useInformer(pods, shop);
    const view = useMemo(() => informer?.changes$.pipe(toView()), [informer]);
    useView(view);
    return null;
  }
  const show = async (children: React.ReactNode, isDone: (text: string) => boolean) => {
    rig.show([<Words key="words" />, <p key="page">{children}</p>], { factory });
    // The text that was awaited: another one may stand there a moment later.
    let text = '';
    await until(() => {
      text = rig.text();
      return isDone(text);
    }, rig.text);
    return text;
  };
  const isLive = (text: string) => text.endsWith('Live');
  const isNothing = (text: string) => text.includes('Starting');
  const nothing = await show(null, isNothing);
  const refused = await show(<List namespace="vault" />, (text) => text.includes('vault'));
  const left = await show(<List namespace="shop" />, isLive);
  await show(null, isNothing);
  const informer = await show(<Informer />, isLive);
  const several = await show([<Informer key="1" />, <List key="2" namespace="shop" />], isLive);
  rig.unmount();
  await factory.stop();
  return { nothing, refused, left, informer, several };
}
