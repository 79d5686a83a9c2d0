/** The layout of the page. */
import { AppShell } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Suspense, useEffect } from 'react';
import { ActionsHost } from '../actions/actions-host.tsx';
import { go } from '../cluster/page-state.ts';
import { useInfo } from '../cluster/use-info.ts';
import { usePage } from '../cluster/use-live.ts';
import { kindOf } from '../kinds/index.ts';
import { Sidebar } from '../panels/sidebar.tsx';
import { StatusLine } from '../panels/status-line.tsx';
import { ToneTiles } from '../panels/tone-tiles.tsx';
import { TroubleLine } from '../panels/trouble-line.tsx';
import { useActivity } from '../panels/use-activity.ts';
import { beginTroubles } from '../panels/use-troubles.ts';
import { FilterBar } from '../table/filter-bar.tsx';
import { LiveTable } from '../table/live-table.tsx';
import { TableProvider } from '../table/use-table.tsx';
import classes from './app.module.css';
import { focusTable } from './focus.ts';
import { Header } from './header.tsx';
import { KeysOfPage } from './keys.tsx';
import { loadedLater } from './loaded.tsx';

const importDetails = async () => (await import('../details/details.tsx')).Details;
const Details = loadedLater(importDetails);
const SidePanel = loadedLater(async () => (await import('../panels/side-panel.tsx')).SidePanel);

/** Safari has no `requestIdleCallback`. */
const requestIdle = globalThis.requestIdleCallback ?? ((run: () => void) => setTimeout(run, 1000));

export function App() {
  return (
    <TableProvider>
      <Shell />
    </TableProvider>
  );
}

function Shell() {
  const info = useInfo();
  const { kind, object, panel } = usePage();
  const [menuIsOpen, menu] = useDisclosure(false);
  const { title } = kindOf(kind);
  useActivity();
  // So that the first click does not wait for it.
  useEffect(() => {
    requestIdle(() => {
      beginTroubles();
      void importDetails().catch(() => undefined);
    });
  }, []);
  useEffect(() => {
    document.title = `${object?.name ?? title} — rx-informer`;
  }, [object, title]);
  const isHidden = panel === '';
  const isReadOnly = info === undefined || info.readOnly === true;
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 204, breakpoint: 'md', collapsed: { mobile: !menuIsOpen } }}
      aside={{
        width: 320,
        breakpoint: 'lg',
        collapsed: { desktop: isHidden, mobile: isHidden },
      }}
    >
      <AppShell.Header className={classes.bar}>
        <Header info={info} menuIsOpen={menuIsOpen} onMenu={menu.toggle} />
      </AppShell.Header>
      <AppShell.Navbar className={classes.side} aria-label="Kinds and namespaces">
        <Sidebar onChoice={menu.close} />
      </AppShell.Navbar>
      <AppShell.Main className={classes.main}>
        <StatusLine />
        <ToneTiles />
        <TroubleLine />
        <FilterBar />
        <div className={classes.content}>
          <LiveTable key={kind} isReadOnly={isReadOnly} />
          {object !== undefined && (
            <Suspense>
              <Details
                key={`${object.kind}/${object.uid}/${object.name}`}
                of={object}
                isReadOnly={isReadOnly}
                context={info?.context}
              />
            </Suspense>
          )}
        </div>
      </AppShell.Main>
      <KeysOfPage />
      <ActionsHost info={info} />
      {!isHidden && (
        <AppShell.Aside
          className={classes.side}
          aria-label="Panel"
          onKeyDown={({ key }) => {
            if (key !== 'Escape') return;
            go({ panel: '' });
            focusTable();
          }}
        >
          <Suspense>
            <SidePanel info={info} />
          </Suspense>
        </AppShell.Aside>
      )}
    </AppShell>
  );
}
