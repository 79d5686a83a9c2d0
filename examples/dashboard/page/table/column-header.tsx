/** A column header: a button that sorts, and the sort order for screen readers. */
import { UnstyledButton } from '@mantine/core';
import { FlexRender, type Header, type SortDirection } from '@tanstack/react-table';
import type { Row } from '../kinds/kind.ts';
import { DownIcon, UpIcon } from '../layout/icons.tsx';
import type { features } from './cells.tsx';
import classes from './table.module.css';

interface ColumnHeaderProps {
  readonly header: Header<typeof features, Row>;
  readonly sorted: false | SortDirection;
}

const words = { asc: 'ascending', desc: 'descending' } as const;

export function ColumnHeader({ header, sorted }: ColumnHeaderProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: the grid is made of <div>
    // biome-ignore lint/a11y/useFocusableInteractive: the button in it takes the focus
    <div
      role="columnheader"
      className={classes.columnHeader}
      aria-sort={sorted === false ? 'none' : words[sorted]}
    >
      <UnstyledButton
        className={classes.sortButton}
        data-column={header.column.id}
        onClick={header.column.getToggleSortingHandler()}
      >
        <FlexRender header={header} />
        <span className={classes.arrow} data-sorted={sorted !== false}>
          {sorted === 'desc' ? <DownIcon size={14} /> : <UpIcon size={14} />}
        </span>
      </UnstyledButton>
    </div>
  );
}
