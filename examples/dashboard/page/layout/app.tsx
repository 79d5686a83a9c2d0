/** The layout of the page. */
import { AppShell } from '@mantine/core';
import { useState } from 'react';
import { useInfo } from '../cluster/use-info.ts';
import { NamespaceCounts } from '../panels/namespace-counts.tsx';
import { PhaseCounts } from '../panels/phase-counts.tsx';
import { PodDetails } from '../panels/pod-details.tsx';
import { ServerPanel } from '../panels/server-panel.tsx';
import { StatusLine } from '../panels/status-line.tsx';
import { FilterBar } from '../table/filter-bar.tsx';
import { PodTable } from '../table/pod-table.tsx';
import classes from './app.module.css';
import { Header } from './header.tsx';

export function App() {
  const info = useInfo();
  const [selected, select] = useState<string>();
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 204, breakpoint: 'md', collapsed: { mobile: true } }}
      {...(info?.embedded === undefined
        ? {}
        : { aside: { width: 260, breakpoint: 'lg', collapsed: { mobile: true } } })}
    >
      <AppShell.Header className={classes.bar}>
        <Header cluster={info?.cluster} />
      </AppShell.Header>
      <AppShell.Navbar className={classes.side} aria-label="Namespaces">
        <NamespaceCounts />
      </AppShell.Navbar>
      <AppShell.Main className={classes.main}>
        <StatusLine />
        <PhaseCounts />
        <FilterBar />
        <PodTable selected={selected} onSelect={select} />
      </AppShell.Main>
      {info?.embedded !== undefined && (
        <AppShell.Aside className={classes.side} aria-label="The embedded server">
          <ServerPanel rate={info.embedded.rate} />
        </AppShell.Aside>
      )}
      {selected !== undefined && (
        <PodDetails key={selected} uid={selected} onClose={() => select(undefined)} />
      )}
    </AppShell>
  );
}
