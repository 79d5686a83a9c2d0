/** The line above each table that says what is in trouble in other tables, too. */
import { Anchor, Text } from '@mantine/core';
import { Fragment } from 'react';
import { counted } from '../../shared/words.ts';
import { causeOf } from '../kinds/cause.ts';
import { rowsName } from '../kinds/kind.ts';
import { AlertIcon } from '../layout/icons.tsx';
import classes from './troubles.module.css';
import { goToTrouble, type Trouble, toggleTroubles, useTroubles } from './use-troubles.ts';

/** Without those whose owner says the same: the Pods of a Deployment, and its ReplicaSet. What others wait for comes first. */
export function causesIn(troubles: readonly Trouble[]): readonly Trouble[] {
  const known = new Set(troubles.flatMap(({ rows }) => rows.map(({ uid }) => uid)));
  return troubles
    .map((each) => ({ ...each, rows: each.rows.filter((row) => !known.has(row.ownerUid)) }))
    .filter(({ rows }) => rows.length > 0)
    .reverse();
}

export function TroubleLine() {
  const troubles = useTroubles();
  const isCounting = troubles.some(({ isKnown }) => !isKnown);
  const causes = causesIn(troubles);
  const rows = causes.flatMap((each) => each.rows);
  const [first] = rows;
  if (first === undefined) {
    // What is below must not move when the first trouble is found.
    const words = isCounting ? 'Looking for trouble of every kind …' : 'Nothing is in trouble.';
    return <Text size="sm">{words}</Text>;
  }
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
