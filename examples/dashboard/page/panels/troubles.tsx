/** All that is in trouble, each with its cause, one step from its details. */
import { type KeyboardEvent, useEffect, useRef } from 'react';
import { Cause } from '../details/cause-text.tsx';
import details from '../details/details.module.css';
import { ObjectLink } from '../details/object-link.tsx';
import { StatusBadge } from '../table/cells.tsx';
import type { RootCause, Troubled } from './causes.ts';
import classes from './troubles.module.css';
import { useTroubles } from './use-troubles.ts';

/** The most objects of a kind that are listed. */
const MOST = 50;

/** The arrows go from one object to the next. */
function onArrow(event: KeyboardEvent<HTMLElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>('h3 a')];
  links[links.indexOf(document.activeElement as HTMLElement) + step]?.focus();
  event.preventDefault();
}

function TroubledLink({ of: { kind, row } }: { readonly of: Troubled }) {
  const { uid, name, namespace } = row;
  const of = { kind: kind.id, uid, name, namespace };
  return <ObjectLink of={of} text={`${kind.resource.kind} ${name}`} />;
}

export function Troubles() {
  const { kinds, emptyWords } = useTroubles();
  const list = useRef<HTMLUListElement>(null);
  const isEmpty = kinds.length === 0;
  useEffect(() => {
    if (!isEmpty) list.current?.querySelector('a')?.focus();
  }, [isEmpty]);
  if (isEmpty) return <p className={details.note}>{emptyWords}</p>;
  return (
    <ul ref={list} className={classes.list} aria-label="What is in trouble" onKeyDown={onArrow}>
      {kinds.flatMap(({ causes }) =>
        causes.slice(0, MOST).map((cause) => <Entry key={cause.row.uid} of={cause} />),
      )}
    </ul>
  );
}

/** An object in trouble with its cause, and what is in trouble because of it. */
function Entry({ of: { effects, ...of } }: { readonly of: RootCause }) {
  const { namespace, status, tone } = of.row;
  return (
    <li>
      <h3 className={classes.name}>
        <TroubledLink of={of} />
        {namespace !== '' && <span className={classes.where}> in {namespace}</span>}
      </h3>
      <StatusBadge tone={tone} text={status} />
      <p>
        <Cause row={of.row} />
      </p>
      {effects.map((effect) => (
        <p key={effect.row.uid}>
          Therefore <TroubledLink of={effect} /> is in trouble, too: <Cause row={effect.row} />
        </p>
      ))}
    </li>
  );
}
