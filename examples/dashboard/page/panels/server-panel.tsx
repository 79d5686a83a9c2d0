/** The embedded server: how busy it is, how to hurt it, and whether the page still tells the truth. */
import { Button, Divider, ScrollArea, SegmentedControl, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { Control, FaultName } from '../../shared/messages.ts';
import {
  GaugeIcon,
  HourglassIcon,
  RestartIcon,
  SilenceIcon,
  UnplugIcon,
} from '../layout/icons.tsx';
import { ActivityLog } from './activity-log.tsx';
import classes from './server-panel.module.css';
import { TruthCheck } from './truth-check.tsx';

const faults: readonly {
  readonly name: FaultName;
  readonly label: string;
  readonly what: string;
  readonly Icon: typeof GaugeIcon;
}[] = [
  { name: 'drop', label: 'Drop connections', what: 'Cuts every open socket', Icon: UnplugIcon },
  {
    name: 'expire',
    label: 'Expire versions (410)',
    what: 'Forgets history and ends the watch: the list is read again',
    Icon: HourglassIcon,
  },
  {
    name: 'throttle',
    label: 'Answer 429',
    what: 'Ends the watch and is too busy for the next requests',
    Icon: GaugeIcon,
  },
  { name: 'restart', label: 'Restart', what: 'Goes away for a few seconds', Icon: RestartIcon },
  {
    name: 'half-open',
    label: 'Half-open',
    what: 'Keeps the connection but sends nothing more',
    Icon: SilenceIcon,
  },
];
const rates = [0, 20, 100, 500];

async function control(message: Control): Promise<void> {
  await fetch('/embedded/control', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(message),
  });
}

export function ServerPanel({ rate }: { readonly rate: number }) {
  return (
    <ScrollArea className={classes.scroll} type="auto">
      <Stack gap="md">
        <Rate rate={rate} />
        <Divider />
        <section aria-labelledby="hurt">
          <Text component="h2" id="hurt" className={classes.heading}>
            Hurt the server
          </Text>
          <Stack gap={6}>
            {faults.map(({ name, label, what, Icon }) => (
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
        </section>
        <Divider />
        <TruthCheck />
        <Divider />
        <ActivityLog />
      </Stack>
    </ScrollArea>
  );
}

function Rate({ rate }: { readonly rate: number }) {
  const [chosen, choose] = useState(rate);
  const all = rates.includes(rate) ? rates : [...rates, rate].sort((a, b) => a - b);
  return (
    <section aria-labelledby="rate">
      <Text component="h2" id="rate" className={classes.heading}>
        Changes a second
      </Text>
      <SegmentedControl
        fullWidth
        size="xs"
        aria-labelledby="rate"
        data={all.map((value) => ({ value: String(value), label: value === 0 ? 'Pause' : value }))}
        value={String(chosen)}
        onChange={(value) => {
          choose(Number(value));
          void control({ rate: Number(value) });
        }}
      />
    </section>
  );
}
