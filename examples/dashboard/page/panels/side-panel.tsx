/** The panel at the side: the queries of the table, and the controls of the embedded server. */
import { CloseButton, Group, ScrollArea, SegmentedControl } from '@mantine/core';
import type { DashboardInfo } from '../../shared/messages.ts';
import { user } from '../cluster/cluster.ts';
import { go } from '../cluster/page-state.ts';
import { usePage } from '../cluster/use-live.ts';
import { ActivityLog } from './activity-log.tsx';
import { QueriesPanel } from './queries-panel.tsx';
import classes from './server-panel.module.css';
import { ServerPanel } from './server-panel.tsx';
import { Troubles } from './troubles.tsx';

export function SidePanel({ info }: { readonly info: DashboardInfo | undefined }) {
  const { panel } = usePage();
  const names = [
    { value: 'troubles', label: 'In trouble' },
    ...(user ? [] : [{ value: 'queries', label: 'Queries' }]),
    { value: 'activity', label: 'Activity' },
    ...(info?.embedded === undefined ? [] : [{ value: 'server', label: 'Demo' }]),
  ];
  return (
    <>
      <Group justify="space-between" wrap="nowrap" px={12} py={10} className={classes.head}>
        <SegmentedControl
          size="xs"
          aria-label="Panel"
          data={names}
          value={panel}
          onChange={(next) => go({ panel: next })}
        />
        <CloseButton aria-label="Close the panel" onClick={() => go({ panel: '' })} />
      </Group>
      {/* Without something to focus in it, only a focused region is scrolled by keys. */}
      <ScrollArea className={classes.scroll} type="auto" viewportProps={{ tabIndex: 0 }}>
        {panel === 'troubles' && <Troubles />}
        {panel === 'queries' && <QueriesPanel />}
        {panel === 'activity' && <ActivityLog />}
        {panel === 'server' && info?.embedded !== undefined && (
          <ServerPanel rate={info.embedded.rate} />
        )}
      </ScrollArea>
    </>
  );
}
