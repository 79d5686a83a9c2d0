/** The line above each table that says what is in trouble in other tables, too. */
import { Anchor, Text } from '@mantine/core';
import { Fragment } from 'react';
import { counted } from '../../shared/words.ts';
import { causeOf } from '../kinds/cause.ts';
import { rowsName } from '../kinds/kind.ts';
import { AlertIcon } from '../layout/icons.tsx';
import classes from './troubles.module.css';
import { goToTrouble, toggleTroubles, useTroubles } from './use-troubles.ts';

export function TroubleLine() {
  const { causes, isCounting, emptyWords } = useTroubles();
  const rows = causes.flatMap((each) => each.rows);
  const [first] = rows;
  // Also without trouble, because what is below must not move when the first is found.
  if (first === undefined) return <Text size="sm">{emptyWords}</Text>;
  const link = { component: 'button', type: 'button', className: classes.link } as const;
  return (
    <Text size="sm" className={classes.line} data-testid="trouble-line">
      <AlertIcon />
      <Anchor {...link} onClick={toggleTroubles}>
        {counted(rows.length, 'object')} in trouble
      </Anchor>
      {isCounting && ', still counting'}
      {causes.map(({ kind, rows: { length } }, at) => (
        <Fragment key={kind.id}>
          {at === 0 ? ': ' : ', '}
          <Anchor {...link} onClick={() => goToTrouble(kind.id)}>
            {counted(length, rowsName(kind, 1), kind.title)}
          </Anchor>
        </Fragment>
      ))}
      {rows.length === 1 && ` — ${first.namespace}/${first.name} — ${causeOf(first.why)}`}
    </Text>
  );
}
