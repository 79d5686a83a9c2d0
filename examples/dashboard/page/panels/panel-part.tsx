/** A part of the panel at the side, with its heading. */
import { Text } from '@mantine/core';
import { type ReactNode, useId } from 'react';
import classes from './server-panel.module.css';

export function PanelPart(props: {
  readonly title: string;
  /** Whether it is a part of another part. */
  readonly isInner?: boolean;
  readonly children: ReactNode;
}) {
  const { title, isInner = false, children } = props;
  const id = useId();
  return (
    <section aria-labelledby={id}>
      <Text
        component={isInner ? 'h3' : 'h2'}
        id={id}
        className={classes.heading}
        mt={isInner ? 'md' : 0}
      >
        {title}
      </Text>
      {children}
    </section>
  );
}
