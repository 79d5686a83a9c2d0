/**
 * The controls of the embedded server: its rate of changes, its faults, and the comparison of the page with the
 * server.
 */
import { Button, Divider, SegmentedControl, Stack } from '@mantine/core';
import { useState } from 'react';
import type { Control, FaultName } from '../../shared/messages.ts';
import { post } from '../cluster/post.ts';
import {
  GaugeIcon,
  HourglassIcon,
  RestartIcon,
  SilenceIcon,
  UnplugIcon,
} from '../layout/icons.tsx';
import { ActivityLog } from './activity-log.tsx';
import { PanelPart } from './panel-part.tsx';
import { TruthCheck } from './truth-check.tsx';

const faults: readonly (readonly [FaultName, string, what: string, typeof GaugeIcon])[] = [
  ['drop', 'Drop connections', 'Cuts every open connection', UnplugIcon],
  ['expire', 'Expire versions (410)', 'Deletes the history: the informer relists', HourglassIcon],
  ['throttle', 'Answer 429', 'Ends the watch and refuses the next requests as too many', GaugeIcon],
  ['restart', 'Restart', 'Refuses connections for a few seconds', RestartIcon],
  ['half-open', 'Half-open', 'Keeps the connection but sends nothing more', SilenceIcon],
];
const rates = [0, 20, 100, 500];

const control = (message: Control) => post('/embedded/control', message);

export function ServerPanel({ rate }: { readonly rate: number }) {
  return (
    <Stack gap="md">
      <Rate rate={rate} />
      <Divider />
      <PanelPart title="Disturb the server">
        <Stack gap={6}>
          {faults.map(([name, label, what, Icon]) => (
            <Button
              key={name}
              variant="default"
              size="xs"
              justify="flex-start"
              leftSection={<Icon />}
              data-fault={name}
              title={what}
              onClick={() => void control({ fault: name })}
            >
              {label}
            </Button>
          ))}
        </Stack>
      </PanelPart>
      <Divider />
      <TruthCheck />
      <Divider />
      <ActivityLog />
    </Stack>
  );
}

function Rate({ rate }: { readonly rate: number }) {
  const [chosen, choose] = useState(rate);
  const all = rates.includes(rate) ? rates : [...rates, rate].sort((a, b) => a - b);
  return (
    <PanelPart title="Changes per second">
      <SegmentedControl
        fullWidth
        size="xs"
        aria-label="Changes per second"
        data={all.map((value) => ({ value: String(value), label: value === 0 ? 'Pause' : value }))}
        value={String(chosen)}
        onChange={(value) => {
          choose(Number(value));
          void control({ rate: Number(value) });
        }}
      />
    </PanelPart>
  );
}
