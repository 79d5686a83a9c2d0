/** The cause of a trouble in words, with links to the objects that it names. */
import { Fragment, type ReactNode } from 'react';
import { causeOf } from '../kinds/cause.ts';
import type { Row } from '../kinds/kind.ts';
import { namedIn } from '../kinds/named.ts';
import { useLastLine } from '../table/use-last-line.ts';
import { reference } from './object-link.tsx';

export function Linked(props: {
  readonly text: string;
  readonly namespace: string;
  readonly whole?: string;
}): ReactNode {
  const { text, namespace, whole } = props;
  return namedIn(text, namespace, whole).map(({ text: part, of }, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have no other name
    <Fragment key={at}>{of === undefined ? part : reference(of, '/', part)}</Fragment>
  ));
}

/** The cause of a row, with the last line that a container has written that fails. */
export function Cause({ row }: { readonly row: Row }) {
  const { why, namespace } = row;
  const line = useLastLine(row['log']);
  return (
    <>
      {line !== '' && `The log ends with: ${line} — `}
      <Linked text={causeOf(why)} namespace={namespace} whole={why} />
    </>
  );
}
