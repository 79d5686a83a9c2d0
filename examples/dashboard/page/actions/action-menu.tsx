/** The actions of one object, each with the right that is missing for it, and what only kubectl can do. */
import { Button, Menu, Text } from '@mantine/core';
import { useClipboard, useHotkeys } from '@mantine/hooks';
import { useState } from 'react';
import type { KubernetesObject, Stored } from 'rx-informer';
import type { ObjectName } from '../cluster/page-state.ts';
import { CopyItems, menuProps } from '../details/copy-menu.tsx';
import type { Copied } from '../details/kubectl.ts';
import type { Kind } from '../kinds/kind.ts';
import { CheckIcon, DownIcon } from '../layout/icons.tsx';
import type { Action } from './action.ts';
import classes from './actions.module.css';
import { asked$, marks$ } from './asked.ts';
import { actionsFor } from './objects.ts';
import { useLacks } from './use-lacks.ts';

/** They say more than the page, need a stream in both directions, or many requests in an order. */
const BY_KUBECTL = /^kubectl (describe|drain|exec|port-forward)$/;

export function ActionMenu(props: {
  readonly kind: Kind;
  readonly of: ObjectName;
  readonly object: Stored<KubernetesObject>;
  readonly copies: readonly Copied[];
}) {
  const { kind, of, object, copies } = props;
  const [isOpen, setOpen] = useState(false);
  const { copied, copy } = useClipboard();
  useHotkeys([['a', () => marks$.value.size === 0 && setOpen(true)]]);
  const actions = actionsFor(kind.resource, object);
  const { namespace, name } = of;
  const lacks = useLacks(kind.resource, actions, [{ namespace, name }], isOpen);
  const lines = copies.filter(({ label }) => BY_KUBECTL.test(label));
  const targets = [{ ...of, uid: object.metadata.uid }];
  const itemOf = ({ id, label, does, isDanger }: Action) => {
    const lack = lacks.get(id);
    return (
      <Menu.Item
        key={id}
        // Not `disabled`, so that the pointer and screen readers reach the reason.
        data-disabled={lack !== undefined}
        closeMenuOnClick={lack === undefined}
        className={lack !== undefined ? classes.lacks : isDanger ? classes.danger : ''}
        onClick={() => lack ?? asked$.next({ action: id, kind: kind.id, targets })}
      >
        {label} …
        <Text size="xs" className={classes.reason}>
          {lack === undefined ? does : `Needs the right to ${lack}`}
        </Text>
      </Menu.Item>
    );
  };
  // The keyboard begins with the first item, which must destroy nothing.
  const safe = actions.filter(({ isDanger }) => !isDanger);
  const dangers = actions.filter(({ isDanger }) => isDanger);
  return (
    <Menu {...menuProps} opened={isOpen} onChange={setOpen}>
      <Menu.Target>
        <Button
          size="compact-sm"
          variant="default"
          rightSection={copied ? <CheckIcon size={14} /> : <DownIcon size={14} />}
        >
          Actions
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {safe.map(itemOf)}
        {safe.length > 0 && <Menu.Divider />}
        <Menu.Label>Copy a kubectl command</Menu.Label>
        <CopyItems copies={lines} onCopy={copy} />
        {dangers.length > 0 && <Menu.Divider />}
        {dangers.map(itemOf)}
      </Menu.Dropdown>
    </Menu>
  );
}
