/** Scenarios of the suspending hooks. */
import { Component, type ReactNode, Suspense, startTransition, useState } from 'react';
import { useSuspenseList } from 'rx-informer/react';
import { pods } from 'rx-informer/resources';
import { createRig, distinct, frames, type Rig, until } from './rig.tsx';

function add(rig: Rig, namespace: string, name: string): void {
  rig.server.objects.create(pods, { metadata: { namespace, name } });
}

function Names({ namespace }: { namespace: string }) {
  const { rows, synced } = useSuspenseList(pods, { namespace });
  return `${rows.map(({ metadata }) => metadata.name).join()} ${synced} `;
}

/** Suspends, shows the list, follows it, and is unmounted. */
export async function suspended(options: { isStrict: boolean; lingerMs: number }) {
  const rig = createRig();
  add(rig, 'shop', 'web');
  const seen: string[] = [];
  const observer = new MutationObserver(() => seen.push(rig.text()));
  observer.observe(document.body, { subtree: true, childList: true, characterData: true });
  rig.show(
    <Suspense fallback="loading">
      <Names namespace="shop" />
      <Names namespace="shop" />
    </Suspense>,
    options,
  );
  await until(() => rig.text() === 'web true web true ', rig.text);
  add(rig, 'shop', 'web-2');
  await until(() => rig.text().includes('web-2'), rig.text);
  const watches = rig.watches();
  rig.unmount();
  await until(() => rig.server.openWatches.length === 0 || options.lingerMs > 1_000);
  return { watches, seen: distinct(seen.map((text) => text.slice(0, 7))) };
}

/** The component suspends, and its parent is rendered without it before the answer arrives. */
export async function discarded(lingerMs: number) {
  const rig = createRig();
  add(rig, 'shop', 'web');
  const delay = rig.server.faults.delay(50, {});
  rig.show(
    <Suspense fallback="loading">
      <Names namespace="shop" />
    </Suspense>,
    { lingerMs },
  );
  await until(() => rig.text() === 'loading' && rig.server.requests.length > 0, rig.text);
  rig.show('nothing', { lingerMs });
  await until(() => rig.server.openWatches.length === 1);
  const whileLingering = rig.server.openWatches.length;
  const { server } = rig;
  await until(() => server.openWatches.length === 0);
  server.clearRequests();
  add(rig, 'shop', 'late');
  await frames(10);
  delay.heal();
  const result = {
    whileLingering,
    open: server.openWatches.length,
    requests: server.requests.length,
  };
  rig.unmount();
  return { ...result, text: rig.text() };
}

/** In a transition the former rows are shown until the next ones are there. */
export async function inTransition() {
  const rig = createRig();
  add(rig, 'shop', 'web');
  add(rig, 'till', 'cash');
  const seen: string[] = [];
  let change: (namespace: string) => void = () => undefined;
  function Page() {
    const [namespace, setNamespace] = useState('shop');
    change = (next) => startTransition(() => setNamespace(next));
    return <Names namespace={namespace} />;
  }
  rig.show(
    <Suspense fallback="loading">
      <Page />
    </Suspense>,
  );
  await until(() => rig.text() === 'web true ', rig.text);
  const observer = new MutationObserver(() => seen.push(rig.text()));
  observer.observe(document.body, { subtree: true, childList: true, characterData: true });
  change('till');
  await until(() => rig.text() === 'cash true ', rig.text);
  await frames(3);
  rig.unmount();
  return distinct(seen).filter((text) => text !== '');
}

class Boundary extends Component<{ children: ReactNode }, { error?: Error }> {
  override state: { error?: Error } = {};
  static getDerivedStateFromError(error: Error) {
    return { error };
  }
  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return (
      <button type="button" onClick={() => this.setState({ error: undefined as never })}>
        {error.name}
      </button>
    );
  }
}

/** The server refuses the list, and later does not. */
export async function refused() {
  const rig = createRig();
  add(rig, 'shop', 'web');
  const fault = rig.server.faults.failNext({}, { status: 403, times: 1e9 });
  rig.show(
    <Boundary>
      <Suspense fallback="loading">
        <Names namespace="shop" />
      </Suspense>
    </Boundary>,
  );
  await until(() => rig.text() === 'ApiError', rig.text);
  fault.heal();
  // The refusal is kept for a second.
  await until(() => {
    document.querySelector('button')?.click();
    return rig.text() === 'web true ';
  }, rig.text);
  rig.unmount();
  return true;
}
