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
import classes from './actions.module.css';
import { asked$, marks$ } from './asked.ts';
import { actionsFor } from './objects.ts';
import { useLacks } from './use-lacks.ts';

/** They need a stream in both directions, or many requests in an order. */
const BY_KUBECTL = /^kubectl (drain|exec|port-forward)$/;

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
  if (actions.length + lines.length === 0) return null;
  const targets = [{ ...of, uid: object.metadata.uid }];
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
        {actions.map(({ id, label, does, isDanger }) => {
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
        })}
        {lines.length > 0 && (
          <>
            {actions.length > 0 && <Menu.Divider />}
            <Menu.Label>Copy the line of kubectl</Menu.Label>
          </>
        )}
        <CopyItems copies={lines} onCopy={copy} />
      </Menu.Dropdown>
    </Menu>
  );
}
