/** A part of the panel at the side, with its heading. */
import { Text } from '@mantine/core';
import { type ReactNode, useId } from 'react';

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
        size="xs"
        fw={600}
        c="dimmed"
        mb={8}
        mt={isInner ? 'md' : 0}
      >
        {title}
      </Text>
      {children}
    </section>
  );
}
