/** The menu of columns. Each choice is kept in the URL. */
import { Menu } from '@mantine/core';
import type { ReactNode } from 'react';
import { go } from '../cluster/page-state.ts';
import type { Column } from '../kinds/kind.ts';

export function ColumnMenu(props: {
  readonly offered: readonly Column[];
  /** The ids of those that are shown. */
  readonly shown: readonly string[];
  readonly children: ReactNode;
}) {
  const { offered, shown, children } = props;
  const toggle = (id: string) =>
    go({ columns: shown.includes(id) ? shown.filter((each) => each !== id) : [...shown, id] });
  return (
    <Menu
      defaultOpened
      position="bottom-end"
      closeOnItemClick={false}
      withinPortal={false}
      withInitialFocusPlaceholder={false}
    >
      <Menu.Target>{children}</Menu.Target>
      <Menu.Dropdown>
        {offered.map(({ id, title }) => (
          <Menu.CheckboxItem
            key={id}
            checked={shown.includes(id)}
            closeMenuOnClick={false}
            onChange={() => toggle(id)}
          >
            {title}
          </Menu.CheckboxItem>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
