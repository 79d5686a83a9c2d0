/** All that is in trouble, each with its cause, one step from its details. */
import { type KeyboardEvent, useEffect, useRef } from 'react';
import { Cause } from '../details/cause-text.tsx';
import details from '../details/details.module.css';
import { ObjectLink } from '../details/object-link.tsx';
import { StatusBadge } from '../table/cells.tsx';
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

export function Troubles() {
  const { causes, emptyWords } = useTroubles();
  const list = useRef<HTMLUListElement>(null);
  const isEmpty = causes.length === 0;
  useEffect(() => {
    if (!isEmpty) list.current?.querySelector('a')?.focus();
  }, [isEmpty]);
  if (isEmpty) return <p className={details.note}>{emptyWords}</p>;
  return (
    <ul ref={list} className={classes.list} aria-label="What is in trouble" onKeyDown={onArrow}>
      {causes.flatMap(({ kind, rows }) =>
        rows.slice(0, MOST).map((row) => {
          const { uid, name, namespace, status, tone } = row;
          return (
            <li key={uid}>
              <h3 className={classes.name}>
                <ObjectLink
                  of={{ kind: kind.id, uid, name, namespace }}
                  text={`${kind.resource.kind} ${name}`}
                />
                {namespace !== '' && <span className={classes.where}> in {namespace}</span>}
              </h3>
              <StatusBadge tone={tone} text={status} />
              <p>
                <Cause row={row} />
              </p>
            </li>
          );
        }),
      )}
    </ul>
  );
}
