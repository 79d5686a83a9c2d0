/** The details of one pod, live. If the pod is deleted, its last known state stays visible. */
import { Alert, Drawer, Stack, Table, Text, Title } from '@mantine/core';
import { useState } from 'react';
import type { Pod } from 'rx-informer/resources';
import { usePod } from '../cluster/use-live.ts';
import { ownerOf } from '../pods/pod-row.ts';
import { podStatus } from '../pods/pod-status.ts';
import classes from './pod-details.module.css';

interface PodDetailsProps {
  readonly uid: string;
  readonly onClose: () => void;
}

export function PodDetails({ uid, onClose }: PodDetailsProps) {
  const now = usePod(uid);
  // Keeps the last known state of a deleted pod.
  const [last, setLast] = useState(now);
  if (now !== undefined && now !== last) setLast(now);
  const pod = now ?? last;
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size="md"
      // Locking the scroll would need styles that the page's policy forbids, and the page behind the drawer does not
      // scroll.
      lockScroll={false}
      overlayProps={{ backgroundOpacity: 0.2 }}
      title={pod?.metadata.name ?? 'Pod'}
      classNames={{ title: classes.title }}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {now === undefined && (
        <Alert color="orange" mb="md" title="This pod was deleted">
          Its last known state is shown below.
        </Alert>
      )}
      {pod !== undefined && <Facts pod={pod} />}
    </Drawer>
  );
}

function Facts({ pod }: { readonly pod: Pod }) {
  const { metadata = {}, spec, status } = pod;
  return (
    <Stack gap="lg" data-testid="details">
      <Pairs
        title="Pod"
        pairs={{
          Namespace: metadata.namespace,
          Status: podStatus(pod).text,
          Node: spec?.nodeName,
          Owner: ownerOf(pod),
          'Pod IP': status?.podIP,
          Created: metadata.creationTimestamp,
          UID: metadata.uid,
          resourceVersion: metadata.resourceVersion,
        }}
      />
      {(spec?.containers ?? []).map(({ name, image }) => {
        const state = status?.containerStatuses?.find((container) => container.name === name);
        const { waiting, terminated } = state?.state ?? {};
        return (
          <Pairs
            key={name}
            title={`Container ${name}`}
            pairs={{
              Image: image,
              Ready: state?.ready ? 'yes' : 'no',
              Restarts: state && String(state.restartCount),
              Waiting: waiting && [waiting.reason, waiting.message].filter(Boolean).join(': '),
              Ended: terminated && `${terminated.reason ?? ''} (exit code ${terminated.exitCode})`,
            }}
          />
        );
      })}
      <Pairs title="Labels" pairs={metadata.labels ?? {}} />
      <Pairs title="Annotations" pairs={metadata.annotations ?? {}} />
    </Stack>
  );
}

function Pairs(props: {
  readonly title: string;
  readonly pairs: Readonly<Record<string, string | undefined>>;
}) {
  const entries = Object.entries(props.pairs).filter(([, value]) => value);
  return (
    <section>
      <Title order={3} className={classes.heading}>
        {props.title}
      </Title>
      {entries.length === 0 ? (
        <Text size="sm" c="dimmed">
          None
        </Text>
      ) : (
        <Table className={classes.pairs} verticalSpacing={5}>
          <Table.Tbody>
            {entries.map(([name, value]) => (
              <Table.Tr key={name}>
                <Table.Th scope="row">{name}</Table.Th>
                <Table.Td>{value}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </section>
  );
}
