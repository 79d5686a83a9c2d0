/** Sections of the details. */
import { Button, Text, Title } from '@mantine/core';
import { Fragment, type ReactNode } from 'react';
import classes from './details.module.css';

export function Section(props: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section className={classes.section} aria-label={props.title}>
      <Title order={3} fz={13} mb={6}>
        {props.title}
      </Title>
      {props.children}
    </section>
  );
}

/** A small button within a text. */
export function Act(props: { readonly children: string; readonly onClick: () => void }) {
  return <Button size="compact-xs" variant="light" {...props} />;
}

/** A line of a list in a section: a badge, what it says, and what stands at its end. */
export function Line(props: {
  readonly badge: ReactNode;
  readonly children: ReactNode;
  readonly end: ReactNode;
}) {
  return (
    <li>
      {props.badge}
      <span className={classes.text}>{props.children}</span>
      <span className={classes.age}>{props.end}</span>
    </li>
  );
}

/** A name such as `app.kubernetes.io/name`, which is broken after a dot or a slash instead of within a word. */
function breakable(name: string): ReactNode {
  return name.split(/(?<=[./])/).map((part, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts never change their places
    <Fragment key={at}>
      {part}
      <wbr />
    </Fragment>
  ));
}

/** Names with their values; values that are absent are left out. */
export function Pairs(props: {
  readonly title: string;
  readonly pairs: Readonly<Record<string, ReactNode>>;
}) {
  const entries = Object.entries(props.pairs).filter(([, value]) => value);
  return (
    <Section title={props.title}>
      {entries.length === 0 ? (
        <Text size="sm" className={classes.quiet}>
          None
        </Text>
      ) : (
        <dl className={classes.pairs}>
          {entries.map(([name, value]) => (
            <div key={name}>
              <dt>{breakable(name)}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
    </Section>
  );
}
