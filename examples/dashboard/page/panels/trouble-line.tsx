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
  const { causes, kinds, isCounting, emptyWords } = useTroubles();
  const [first] = causes;
  // Also without trouble, because what is below must not move when the first is found.
  if (first === undefined) return <Text size="sm">{emptyWords}</Text>;
  const { row } = first;
  const link = { component: 'button', type: 'button', className: classes.link } as const;
  return (
    <Text size="sm" className={classes.line} data-testid="trouble-line">
      <AlertIcon />
      <Anchor {...link} onClick={toggleTroubles}>
        {counted(causes.length, 'object')} in trouble
      </Anchor>
      {isCounting && ', still counting'}
      {kinds.map(({ kind, causes: { length } }, at) => (
        <Fragment key={kind.id}>
          {at === 0 ? ': ' : ', '}
          <Anchor {...link} onClick={() => goToTrouble(kind.id)}>
            {counted(length, rowsName(kind, 1), kind.title)}
          </Anchor>
        </Fragment>
      ))}
      {causes.length === 1 && ` — ${row.namespace}/${row.name} — ${causeOf(row.why)}`}
    </Text>
  );
}
