/** The details of one object, live. If the object is deleted, its last known state stays visible. */
import { Alert, CloseButton, Group, Loader, SegmentedControl, Text } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { Suspense, useEffect, useRef } from 'react';
import { ApiError, type KubernetesObject, type Stored } from 'rx-informer';
import { ActionMenu } from '../actions/action-menu.tsx';
import { errorWords } from '../cluster/error-words.ts';
import { go, noFilter, type ObjectName } from '../cluster/page-state.ts';
import { usePage, useValue } from '../cluster/use-live.ts';
import { kindOf } from '../kinds/index.ts';
import { type Kind, namespaceIn } from '../kinds/kind.ts';
import { focusTable } from '../layout/focus.ts';
import { loadedLater } from '../layout/loaded.tsx';
import { StatusBadge } from '../table/cells.tsx';
import { useTableQueries } from '../table/use-table.tsx';
import { CopyMenu } from './copy-menu.tsx';
import classes from './details.module.css';
import { isEditable } from './draft.ts';
import { EditObject } from './edit-object.tsx';
import { copiesOf, portsOf } from './kubectl.ts';
import { Logs } from './logs.tsx';
import { Overview } from './overview.tsx';
import { Act } from './pairs.tsx';
import { useLastObject } from './use-last-object.ts';
import { type ObjectProps, selectorOf, useRow } from './use-pods.ts';

const YamlView = loadedLater(async () => (await import('./yaml-view.tsx')).YamlView);

const close = () => {
  go({ object: undefined, tab: '' });
  // The keyboard continues where it was before the details were opened.
  focusTable();
};

/** Whether Escape closes a menu instead. */
const isInMenu = (target: Element) => target.closest('[role=menu],[aria-expanded=true]') !== null;

export function Details(props: {
  readonly of: ObjectName;
  readonly isReadOnly: boolean;
  /** The context of the kubeconfig, for lines of kubectl. */
  readonly context: string | undefined;
}) {
  const { of, isReadOnly, context } = props;
  const kind = kindOf(of.kind);
  const { object, isDeleted, successor, synced, error } = useLastObject(kind, of);
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => title.current?.focus(), []);
  const row = useRow(kind, object);
  const copies = copiesOf(kind, of, context, portsOf(object));
  return (
    <section
      className={classes.pane}
      role="dialog"
      aria-label={`${kind.resource.kind} ${of.name}`}
      onKeyDown={({ key, target, defaultPrevented }) => {
        if (key === 'Escape' && !defaultPrevented && !isInMenu(target as Element)) close();
      }}
    >
      <Group
        align="flex-start"
        justify="space-between"
        gap={8}
        wrap="nowrap"
        p="12px 12px 8px 16px"
      >
        <Group gap="2px 10px" miw={0}>
          <span className={classes.kind}>
            {kind.resource.kind}
            {of.namespace !== '' && ` in ${of.namespace}`}
          </span>
          <h2 ref={title} tabIndex={-1} className={classes.title}>
            {of.name}
          </h2>
          {row !== undefined && row.status !== '' && (
            <StatusBadge
              tone={isDeleted ? 'done' : row.tone}
              text={isDeleted ? 'Deleted' : row.status}
              why={row.why}
            />
          )}
        </Group>
        <Group gap={4} wrap="nowrap">
          {object !== undefined && !isDeleted && !isReadOnly && (
            <ActionMenu kind={kind} of={of} object={object} copies={copies} />
          )}
          <CopyMenu copies={copies} />
          <CloseButton aria-label="Close the details" onClick={close} />
        </Group>
      </Group>
      {isDeleted && (
        <Deleted of={of} kind={kind} isKnown={object !== undefined} successor={successor} />
      )}
      {!isDeleted && <Hidden of={of} kind={kind} />}
      {object === undefined && error !== undefined && (
        <Alert color="orange" mx="md" title="The object cannot be read">
          {errorWords(ApiError.from(error, 'The object'))}
        </Alert>
      )}
      {object === undefined && !synced && error === undefined && (
        <Loader size="sm" m="lg" aria-label="Loading the object" />
      )}
      {object !== undefined && (
        <Body kind={kind} object={object} isDeleted={isDeleted} isReadOnly={isReadOnly} />
      )}
    </section>
  );
}

/** Says that the table does not show the object, because the details stay open when the filter changes. */
function Hidden({ of, kind }: { readonly of: ObjectName; readonly kind: Kind }) {
  const { kind: table, queries } = useTableQueries();
  const page = usePage();
  const { filter, tone, status } = page;
  const namespace = namespaceIn(table, page);
  const order = useValue(queries.order$);
  const isFiltered = [filter, namespace, tone, status].some((text) => text !== '');
  const id = table.isTree ? `${of.uid}/${of.uid}` : of.uid;
  const isOwnKind = table.resource === kind.resource && of.uid !== '';
  if (!isFiltered || !isOwnKind || order === undefined || order.indexOf(id) !== -1) return null;
  return (
    <Text fz={13} c="dimmed" mx={16} mb={8} role="status">
      The filter of the table hides this {kind.resource.kind}.{' '}
      <Act onClick={() => go(noFilter)}>Clear filters</Act>
    </Text>
  );
}

function Deleted(props: {
  readonly of: ObjectName;
  readonly kind: Kind;
  readonly isKnown: boolean;
  readonly successor: Stored<KubernetesObject> | undefined;
}) {
  const { of, kind, isKnown, successor } = props;
  const what = kind.resource.kind;
  return (
    <Alert color="orange" mx="md" mb="sm" role="status" title={`This ${what} was deleted`}>
      {isKnown ? 'Its last known state is shown below. ' : 'Nothing is known of it any more. '}
      {successor !== undefined && (
        <>
          A new {what} has the same name.{' '}
          <Act onClick={() => go({ object: { ...of, uid: successor.metadata.uid } })}>
            Show the new one
          </Act>
        </>
      )}
    </Alert>
  );
}

function Body(props: ObjectProps & { readonly isDeleted: boolean; readonly isReadOnly: boolean }) {
  const { kind, object, isDeleted, isReadOnly } = props;
  const { tab } = usePage();
  const hasLogs = kind.id === 'pods' || selectorOf(kind, object) !== undefined;
  const tabs = [
    { value: '', label: 'Overview' },
    ...(hasLogs ? [{ value: 'logs', label: 'Logs' }] : []),
    { value: 'yaml', label: 'YAML' },
    ...(isEditable(kind.resource) && !isDeleted && !isReadOnly
      ? [{ value: 'edit', label: 'Edit' }]
      : []),
  ];
  // Each is reached by the first letter of its name.
  useHotkeys(tabs.map(({ value, label }) => [label.charAt(0), () => go({ tab: value })]));
  const shown = tabs.some(({ value }) => value === tab) ? tab : '';
  return (
    <>
      <div className={classes.tabs}>
        <SegmentedControl
          size="xs"
          fullWidth
          aria-label="Part of the details"
          data={tabs}
          value={shown}
          onChange={(next) => go({ tab: next })}
        />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by the keyboard */}
      <div className={classes.body} data-testid="details" tabIndex={0}>
        {shown === '' && <Overview kind={kind} object={object} />}
        {shown === 'logs' && <Logs kind={kind} object={object} isDeleted={isDeleted} />}
        {shown === 'yaml' && (
          <Suspense>
            <YamlView object={object} />
          </Suspense>
        )}
        {shown === 'edit' && <EditObject kind={kind} object={object} />}
      </div>
    </>
  );
}
