/** The dialog of an action, the bar of the marked rows, and the notice of what was done. */
import { Affix, Button, CloseButton, Group, Notification, Paper, Text } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { useRef, useState } from 'react';
import { ApiError } from 'rx-informer';
import type { DashboardInfo } from '../../shared/messages.ts';
import { errorWords } from '../cluster/error-words.ts';
import type { ObjectName } from '../cluster/page-state.ts';
import { kindOf } from '../kinds/index.ts';
import { rowsName } from '../kinds/kind.ts';
import { focusTable } from '../layout/focus.ts';
import { ActionDialog } from './action-dialog.tsx';
import classes from './actions.module.css';
import { type Asked, asked$, clearMarks, type Notice, notice$ } from './asked.ts';
import { actions, actionsFor } from './objects.ts';
import { useLacks } from './use-lacks.ts';

export function Actions(props: {
  readonly info: DashboardInfo;
  readonly asked: Asked | undefined;
  readonly notice: Notice | undefined;
  readonly marks: ReadonlyMap<string, ObjectName>;
}) {
  const { info, asked, notice, marks } = props;
  const targets = [...marks.values()];
  const [first] = targets;
  const action = actions.find(({ id }) => id === asked?.action);
  return (
    <>
      <Affix className={classes.affix} position={{ bottom: 16, left: 12, right: 12 }} zIndex={160}>
        {notice !== undefined && <Done key={notice.text} notice={notice} />}
        {first !== undefined && <MarkedBar kind={first.kind} targets={targets} />}
      </Affix>
      {asked && action && <ActionDialog info={info} asked={asked} action={action} />}
    </>
  );
}

/** The places of objects: the namespaces of several ones, which may be many. */
function placesOf(targets: readonly ObjectName[]) {
  return [...new Set(targets.map(({ namespace }) => namespace))].map((namespace) => ({
    namespace,
  }));
}

/** Where the keyboard goes: not to what destroys. */
const SAFE = 'button:not([data-danger]):not(:disabled)';

function MarkedBar(props: { readonly kind: string; readonly targets: readonly ObjectName[] }) {
  const { targets } = props;
  const kind = kindOf(props.kind);
  const actions = actionsFor(kind.resource);
  const lacks = useLacks(kind.resource, actions, placesOf(targets));
  const bar = useRef<HTMLDivElement>(null);
  useHotkeys([['a', () => bar.current?.querySelector<HTMLElement>(SAFE)?.focus()]]);
  const clear = () => {
    clearMarks();
    focusTable();
  };
  return (
    <Paper
      ref={bar}
      px={12}
      py={8}
      bg="var(--surface)"
      withBorder
      shadow="md"
      role="region"
      aria-label="Marked rows"
      onKeyDown={({ key }) => key === 'Escape' && clear()}
    >
      <Group gap="xs">
        <Text size="sm" fw={600} role="status">
          {targets.length} {rowsName(kind, targets.length)} marked
        </Text>
        {actions.map(({ id, label, isDanger }) => (
          <Button
            key={id}
            size="xs"
            variant="default"
            data-danger={isDanger}
            className={isDanger && !lacks.has(id) ? classes.danger : ''}
            disabled={lacks.has(id)}
            onClick={() => asked$.next({ action: id, kind: kind.id, targets })}
          >
            {label}
          </Button>
        ))}
        <CloseButton aria-label="Remove all marks" onClick={clear} />
      </Group>
      {[...lacks].map(([id, words]) => (
        <Text key={id} size="xs" c="dimmed">
          {actions.find((action) => action.id === id)?.label} needs the right to {words}.
        </Text>
      ))}
    </Paper>
  );
}

function Done({ notice }: { readonly notice: Notice }) {
  const { text, undo } = notice;
  const [isUndoing, setUndoing] = useState(false);
  const close = () => notice$.next(undefined);
  const takeBack = async () => {
    setUndoing(true);
    const words = await undo?.().then(
      () => `Undone: ${text}`,
      (error: unknown) => `Not undone: ${errorWords(ApiError.from(error, 'The undo'))}`,
    );
    notice$.next({ text: words ?? text });
  };
  return (
    <Notification
      className={classes.done}
      miw="min(420px, 100%)"
      bg="var(--surface)"
      role="status"
      withBorder
      closeButtonProps={{ 'aria-label': 'Close the notice' }}
      onClose={close}
    >
      <Group gap="sm" justify="space-between" wrap="nowrap">
        <span>{text}</span>
        {undo !== undefined && (
          <Button size="xs" variant="light" loading={isUndoing} onClick={() => void takeBack()}>
            Undo
          </Button>
        )}
      </Group>
    </Notification>
  );
}
