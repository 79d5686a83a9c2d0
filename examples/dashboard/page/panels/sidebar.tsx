/** The sidebar: the kinds, and the namespaces with the number of their rows. */
import { NavLink, ScrollArea, Text, UnstyledButton } from '@mantine/core';
import { useRef } from 'react';
import { useView } from 'rx-informer/react/worker';
import { number } from '../../shared/words.ts';
import { user } from '../cluster/cluster.ts';
import { go, goToKind } from '../cluster/page-state.ts';
import { onlyNamespace } from '../cluster/settings.ts';
import { usePage, useValue } from '../cluster/use-live.ts';
import { kindGroups, kindOf } from '../kinds/index.ts';
import type { Kind } from '../kinds/kind.ts';
import { byValue } from '../kinds/order.ts';
import { dialog$ } from '../layout/focus.ts';
import { useTableQueries } from '../table/use-table.tsx';
import classes from './sidebar.module.css';
import { goToTrouble, useTroubleCount } from './use-troubles.ts';

const shown = { classNames: { root: classes.kind ?? '', label: classes.label ?? '' } };
const heading = { size: 'xs', fw: 600, c: 'dimmed', px: 8, pb: 4 } as const;

/** `onChoice` is called after each choice, so that a menu on a phone can close. */
export function Sidebar({ onChoice }: { readonly onChoice: () => void }) {
  const { kind } = useTableQueries();
  const isServed = ({ resource, as }: Kind) =>
    (resource.namespaced || onlyNamespace === '') && (user === undefined || as === undefined);
  return (
    <ScrollArea className={classes.scroll} type="hover">
      {kindGroups.map(({ title, kinds }) => (
        <section key={title} aria-label={title}>
          <Text component="h2" {...heading}>
            {title}
          </Text>
          {kinds.filter(isServed).map(({ id, title: name }) => (
            <div key={id} className={classes.entry}>
              <NavLink
                href={id === 'pods' ? '?' : `?kind=${id}`}
                label={name}
                {...shown}
                active={kind.id === id}
                aria-current={kind.id === id ? 'page' : undefined}
                onClick={(event) => {
                  // A click with a modifier opens a new tab.
                  if (event.metaKey || event.ctrlKey || event.shiftKey) return;
                  event.preventDefault();
                  goToKind(id);
                  onChoice();
                }}
              />
              <InTrouble id={id} onChoice={onChoice} />
            </div>
          ))}
        </section>
      ))}
      <section aria-label="Other kinds">
        {kind.isTable && <NavLink {...shown} label={kind.title} active aria-current="page" />}
        {user === undefined && (
          <NavLink
            {...shown}
            component="button"
            label="Any other kind …"
            onClick={() => dialog$.next('jump')}
          />
        )}
      </section>
      {kind.resource.namespaced && <Namespaces key={kind.id} onChoice={onChoice} />}
    </ScrollArea>
  );
}

/** The number of objects of a kind that are in trouble, which shows them. */
function InTrouble({ id, onChoice }: { readonly id: string; readonly onChoice: () => void }) {
  const count = useTroubleCount(kindOf(id === 'tree' ? 'deployments' : id));
  if (count === 0) return null;
  const text = number.format(count);
  const label = `${text} in trouble of ${kindOf(id).title}`;
  return (
    <UnstyledButton
      className={classes.bad}
      aria-label={label}
      title={label}
      onClick={() => {
        goToTrouble(id);
        onChoice();
      }}
    >
      {text}
    </UnstyledButton>
  );
}

function Namespaces({ onChoice }: { readonly onChoice: () => void }) {
  const { queries } = useTableQueries();
  const found = useView(queries.counts.namespaces).rows;
  const isListed = useValue(queries.isListed$);
  const { namespace } = usePage();
  // A namespace whose last row has gone keeps its place, so that the list does not jump.
  const counts = useRef(new Map<string, number>());
  const { current } = counts;
  for (const key of current.keys()) current.set(key, 0);
  for (const { key, count } of found) current.set(key, count);
  if (current.size === 0) return null;
  const namespaces = [...current].map(([key, count]) => ({ key, count }));
  namespaces.sort((one, other) => byValue(one.key, other.key));
  const most = Math.max(1, ...namespaces.map(({ count }) => count));
  return (
    <section aria-label="Namespaces">
      <Text component="h2" {...heading}>
        In namespace
      </Text>
      <ul className={classes.list}>
        {namespaces.map(({ key, count }) => (
          <li key={key}>
            <UnstyledButton
              className={classes.namespace}
              aria-pressed={namespace === key}
              onClick={() => {
                go({ namespace: namespace === key ? '' : key });
                onChoice();
              }}
            >
              <Text span inherit truncate>
                {key}
              </Text>
              {/* Before the list is complete, no number is known. */}
              {isListed && (
                <>
                  <Text span inherit c="dimmed">
                    {number.format(count)}
                  </Text>
                  <span className={classes.bar} style={{ transform: `scaleX(${count / most})` }} />
                </>
              )}
            </UnstyledButton>
          </li>
        ))}
      </ul>
    </section>
  );
}
