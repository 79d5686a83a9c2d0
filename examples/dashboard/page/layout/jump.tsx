/** Jumps to a kind, a namespace or an object whose name the user types. */
import { Combobox, Group, Loader, Text, TextInput, useCombobox } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useEffect, useState } from 'react';
import { useQuery } from 'rx-informer/react/worker';
import { workerQuery } from 'rx-informer/worker';
import { number } from '../../shared/words.ts';
import { type Queries, user } from '../cluster/cluster.ts';
import { go, goToKind, page$ } from '../cluster/page-state.ts';
import { onlyNamespace } from '../cluster/settings.ts';
import { kindGroups, kindOf } from '../kinds/index.ts';
import { namespaceKind } from '../kinds/others.ts';
import { StatusBadge } from '../table/cells.tsx';
import { ShortName } from '../table/short-name.tsx';
import { compareFound, type Found, MOST } from '../worker/search.ts';
import { Dialog, useLeave } from './dialog.tsx';
import { focusTable, nextTable } from './focus.ts';
import { SearchIcon } from './icons.tsx';
import classes from './jump.module.css';
import { type Asked, kindsFor, namedKinds, searchOf } from './jump-target.ts';
import { useOtherKinds } from './use-other-kinds.ts';

const WAIT_MS = 120;
const isWhole = onlyNamespace === '';
const named = namedKinds(kindGroups, isWhole).filter(
  ({ as }) => user === undefined || as === undefined,
);

function useFound(asked: Asked | undefined) {
  const { words = [], kinds = [] } = asked ?? {};
  const answers = named.map((kind) => {
    const of = { words, kind: kind.id };
    const isAsked = kinds.some(({ id }) => id === kind.id);
    // biome-ignore lint/correctness/useHookAtTopLevel: the kinds are the same in each render
    return useQuery(isAsked ? workerQuery<Queries, 'search'>('search', of) : undefined);
  });
  const found = answers.flatMap(({ rows }) => rows).sort(compareFound);
  const isWaiting = answers.some(({ synced, status }) => !synced && status.error === undefined);
  const more = answers.reduce((sum, { total }) => sum + total, 0) - MOST;
  return { found: found.slice(0, MOST), more, isSearching: asked !== undefined && isWaiting };
}

function openKind(id: string): void {
  if (page$.value.kind === id) focusTable();
  else nextTable.takesKeyboard = true;
  goToKind(id);
}

function openFound({ kind, uid, namespace, name }: Found): void {
  if (kind !== namespaceKind.id) {
    go({ object: { kind, uid, namespace, name }, tab: '' });
    return;
  }
  const isNamespaced = kindOf(page$.value.kind).resource.namespaced;
  if (!isNamespaced) goToKind('pods');
  go({ namespace: name, object: undefined });
  focusTable();
}

export function Jump({ onClose }: { readonly onClose: () => void }) {
  const [text, setText] = useState('');
  const leave = useLeave(onClose);
  const combobox = useCombobox({ opened: true, onDropdownClose: leave });
  const others = useOtherKinds();
  const kinds = kindsFor(text, [...kindGroups, { kinds: others }], isWhole);
  const [settled] = useDebouncedValue(text, WAIT_MS);
  const { found, more, isSearching } = useFound(searchOf(settled, kindGroups, isWhole));
  // biome-ignore lint/correctness/useExhaustiveDependencies: other options, so that Enter takes the first of them
  useEffect(() => void combobox.selectFirstOption(), [text, found[0]?.uid]);
  const choose = (value: string) => {
    onClose();
    const [what, which = ''] = value.split(' ');
    const object = what === 'object' ? found.find(({ uid }) => uid === which) : undefined;
    if (object === undefined) openKind(which);
    else openFound(object);
  };
  return (
    <Dialog title="Jump to" closeLabel="Close without a jump" size="lg" onClose={leave}>
      <Combobox store={combobox} onOptionSubmit={choose}>
        <Combobox.EventsTarget>
          <TextInput
            data-autofocus
            aria-label="A kind, a namespace or an object"
            placeholder="deployments, ns shop, web-0 …"
            leftSection={isSearching ? <Loader size={14} /> : <SearchIcon />}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
          />
        </Combobox.EventsTarget>
        <Combobox.Options mt={10} aria-label="Where to">
          {kinds.length > 0 && (
            <Combobox.Group label="Kinds">
              {kinds.map(({ id, title, isTable, resource }) => (
                <Combobox.Option key={id} className={classes.option} value={`kind ${id}`}>
                  {isTable ? `${title} ` : title}
                  {isTable && (
                    <Text span size="xs" ml="xs" c="dimmed">
                      {resource.apiVersion}
                    </Text>
                  )}
                </Combobox.Option>
              ))}
            </Combobox.Group>
          )}
          {found.length > 0 && (
            <Combobox.Group label="Objects">
              {found.map((object) => (
                <FoundOption key={object.uid} object={object} />
              ))}
              {more > 0 && (
                <Combobox.Empty>{number.format(more)} more: write more of the name.</Combobox.Empty>
              )}
            </Combobox.Group>
          )}
          {kinds.length === 0 && found.length === 0 && !isSearching && (
            <Combobox.Empty>
              {settled.length < 2 ? 'Write two letters or more.' : 'Nothing has this name.'}
            </Combobox.Empty>
          )}
        </Combobox.Options>
      </Combobox>
    </Dialog>
  );
}

function FoundOption({ object }: { readonly object: Found }) {
  const { kind, uid, namespace, name, status, tone } = object;
  const what = kindOf(kind).resource.kind;
  return (
    <Combobox.Option className={classes.option} value={`object ${uid}`}>
      <Group gap="sm" wrap="nowrap" justify="space-between">
        <span className={classes.found}>
          <ShortName text={name} />
          <Text size="xs" c="dimmed">
            {kind === namespaceKind.id ? 'Namespace: show what is in it' : what}
            {namespace !== '' && ` in ${namespace}`}
          </Text>
        </span>
        {status !== '' && <StatusBadge tone={tone} text={status} />}
      </Group>
    </Combobox.Option>
  );
}
