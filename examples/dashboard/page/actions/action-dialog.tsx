/** The dialog of an action: where it happens, to what, what the server says to its dry run, and the button that sends it. */
import { Button, Group, Loader, NumberInput, Select, Stack, Table, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useEffect, useState } from 'react';
import type { DashboardInfo } from '../../shared/messages.ts';
import { ageText } from '../cluster/clock.ts';
import { client } from '../cluster/cluster.ts';
import { kindOf } from '../kinds/index.ts';
import { rowsName } from '../kinds/kind.ts';
import { Dialog, useLeave } from '../layout/dialog.tsx';
import { AlertIcon, CheckIcon } from '../layout/icons.tsx';
import type { Action, Chosen, Revision } from './action.ts';
import classes from './actions.module.css';
import { type Asked, asked$, clearMarks, notice$ } from './asked.ts';
import { revisionsOf } from './revisions.ts';
import { type Item, usePlan } from './use-plan.ts';

/** How long the user may go on typing before the dry run, in milliseconds. */
const WAIT_MS = 250;
const MOST_REPLICAS = 10_000;

function noticeOf(action: Action, what: string, done: readonly Item[]) {
  const [only] = done;
  const undos = done.flatMap(({ done: accepted }) => (accepted?.undo ? [accepted.undo] : []));
  const says = done.length === 1 ? `: ${only?.done?.says}` : '';
  return {
    text: `${action.label} ${what}${says}`,
    ...(undos.length > 0 && { undo: () => Promise.all(undos.map((undo) => undo())) }),
  };
}

export function ActionDialog(props: {
  readonly info: DashboardInfo;
  readonly asked: Asked;
  readonly action: Action;
}) {
  const { info, asked, action } = props;
  const { targets } = asked;
  const kind = kindOf(asked.kind);
  const [chosen, choose] = useState<Chosen>(() => ({ atMs: Date.now() }));
  const [settled] = useDebouncedValue(chosen, WAIT_MS);
  const isReady = action.asks === undefined || settled[action.asks] !== undefined;
  const plan = usePlan(action, kind.resource, targets, settled, isReady);
  const { items, isChecking, isSending } = plan;
  const close = useLeave(() => asked$.next(undefined));
  const accepted = items.filter((item) => item.accepted !== undefined);
  const named = (count: number, name?: string) =>
    count === 1 && name !== undefined
      ? `${kind.resource.kind} ${name}`
      : `${count} ${rowsName(kind, count)}`;
  const namespaces = [...new Set(targets.map(({ namespace }) => namespace))].filter(Boolean);
  const count = accepted.length || targets.length;
  const isSettling = chosen !== settled || isChecking;
  const send = async () => {
    const after = await plan.send();
    const done = after.filter((item) => item.done !== undefined);
    if (done.length > 0) {
      notice$.next(noticeOf(action, named(done.length, done[0]?.of.name), done));
      clearMarks();
    }
    if (done.length === after.length) close();
  };
  const title = `${action.label} ${named(targets.length, targets[0]?.name)}`;
  return (
    <Dialog title={title} closeLabel="Close without a change" onClose={close} size="lg">
      <Stack gap="sm">
        <Text size="sm">{action.does}</Text>
        <dl className={classes.place}>
          <dt>{info.context === undefined ? 'Cluster' : 'Context'}</dt>
          <dd>{info.context ?? info.cluster}</dd>
          {namespaces.length > 0 && (
            <>
              <dt>{namespaces.length === 1 ? 'Namespace' : 'Namespaces'}</dt>
              <dd>{namespaces.join(', ')}</dd>
            </>
          )}
        </dl>
        {action.asks === 'replicas' && (
          <NumberInput
            data-autofocus
            label="Replicas"
            classNames={{ controls: classes.controls ?? '' }}
            min={0}
            max={MOST_REPLICAS}
            allowDecimal={false}
            value={
              chosen.replicas ??
              (targets.length === 1 ? items[0]?.object?.spec?.replicas : '') ??
              ''
            }
            onChange={(value) =>
              choose({ ...chosen, replicas: typeof value === 'number' ? value : undefined })
            }
          />
        )}
        {action.asks === 'revision' && (
          <Revisions item={items[0]} kind={asked.kind} chosen={chosen} onChoice={choose} />
        )}
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by the keyboard */}
        <section className={classes.items} tabIndex={0} aria-label="Dry run">
          <Table>
            <Table.Tbody>
              {items.map((item) => (
                <Line
                  key={item.of.uid}
                  item={item}
                  isOnly={items.length === 1}
                  isWaiting={isSettling || isSending}
                  namespace={namespaces.length > 1 ? item.of.namespace : ''}
                />
              ))}
            </Table.Tbody>
          </Table>
        </section>
        <Group justify="flex-end" gap="sm">
          {items.some(({ problem }) => problem !== undefined) && !isSettling && (
            <Button variant="subtle" onClick={plan.again}>
              Check again
            </Button>
          )}
          <Button variant="default" data-autofocus={action.asks === undefined} onClick={close}>
            Cancel
          </Button>
          <Button
            className={action.isDanger ? classes.deletes : ''}
            disabled={accepted.length === 0 || isSettling}
            loading={isSending}
            onClick={() => void send()}
          >
            {action.label} {count === 1 ? kind.resource.kind : named(count)}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

function Line(props: {
  readonly item: Item;
  /** The title of the dialog names the only object. */
  readonly isOnly: boolean;
  readonly isWaiting: boolean;
  readonly namespace: string;
}) {
  const { item, isOnly, isWaiting, namespace } = props;
  const { of, accepted, done, problem } = item;
  return (
    <Table.Tr>
      {!isOnly && (
        <Table.Th scope="row" className={classes.name}>
          {namespace !== '' && `${namespace}/`}
          <wbr />
          {of.name}
        </Table.Th>
      )}
      <Table.Td className={classes.says} data-is={problem === undefined ? 'good' : 'bad'}>
        {isWaiting && done === undefined ? (
          <Loader size={14} aria-label="The server checks it" />
        ) : (
          <>
            {problem !== undefined && <AlertIcon />}
            {(accepted ?? done) !== undefined && <CheckIcon />}
            <span>
              {problem ?? (done ?? accepted)?.says}
              {accepted !== undefined && <small> – the server accepts it (dry run)</small>}
              {done !== undefined && <small> – done</small>}
            </span>
          </>
        )}
      </Table.Td>
    </Table.Tr>
  );
}

/** The choice of a revision, of which the last one but one is chosen at first. */
function Revisions(props: {
  readonly item: Item | undefined;
  readonly kind: string;
  readonly chosen: Chosen;
  readonly onChoice: (chosen: Chosen) => void;
}) {
  const { item, kind, chosen, onChoice } = props;
  const [found, setFound] = useState<readonly Revision[]>();
  const object = item?.object;
  const isRead = object !== undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the revisions are read once
  useEffect(() => {
    if (object === undefined) return;
    const ending = new AbortController();
    const read = revisionsOf(client, kindOf(kind).resource, object, ending.signal);
    void read
      .catch(() => [])
      .then((revisions) => {
        if (ending.signal.aborted) return;
        setFound(revisions);
        if (revisions[1] !== undefined) onChoice({ ...chosen, revision: revisions[1] });
      });
    return () => ending.abort();
  }, [isRead]);
  const [now, ...earlier] = found ?? [];
  const labelOf = ({ number, note, createdMs }: Revision) =>
    `${number} · ${note} · ${ageText(chosen.atMs - createdMs)} old`;
  return (
    <Select
      data-autofocus
      label="Revision"
      description={now && `Now ${labelOf(now)}`}
      error={found !== undefined && earlier.length === 0 && 'No earlier revision is kept.'}
      data={earlier.map((each) => ({ value: String(each.number), label: labelOf(each) }))}
      value={chosen.revision ? String(chosen.revision.number) : null}
      onChange={(value) =>
        onChoice({
          ...chosen,
          revision: earlier.find(({ number }) => String(number) === value),
        })
      }
      allowDeselect={false}
      comboboxProps={{ withinPortal: false }}
    />
  );
}
