/** Copies the name of an object, or a kubectl command. */
import { ActionIcon, Menu, Text } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { CheckIcon, CopyIcon } from '../layout/icons.tsx';
import classes from './details.module.css';
import type { Copied } from './kubectl.ts';

/** The texts of a menu that can be copied. */
export function CopyItems(props: {
  readonly copies: readonly Copied[];
  readonly onCopy: (text: string) => void;
}) {
  return props.copies.map(({ label, text }) => (
    <Menu.Item key={label} onClick={() => props.onCopy(text)}>
      {label}
      <Text size="xs" className={classes.copied}>
        {text}
      </Text>
    </Menu.Item>
  ));
}

/** The menus of the details. */
export const menuProps = {
  ...({ position: 'bottom-end', withinPortal: false } as const),
  ...{ withInitialFocusPlaceholder: false, width: 320 },
};

export function CopyMenu({ copies }: { readonly copies: readonly Copied[] }) {
  const { copied, copy } = useClipboard();
  const label = 'Copy a name or a command';
  return (
    <Menu {...menuProps}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={label} title="Copy">
          {copied ? <CheckIcon /> : <CopyIcon />}
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <CopyItems copies={copies} onCopy={copy} />
      </Menu.Dropdown>
    </Menu>
  );
}
