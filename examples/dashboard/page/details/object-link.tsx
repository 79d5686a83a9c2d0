/** Links to the details of other objects. */
import { Anchor } from '@mantine/core';
import type { ReactNode } from 'react';
import { go, type ObjectName, page$, writePage } from '../cluster/page-state.ts';
import { kindNamed } from '../kinds/index.ts';

export function ObjectLink({ of, text }: { readonly of: ObjectName; readonly text: string }) {
  return (
    <Anchor
      inherit
      href={writePage({ ...page$.value, object: of, tab: '' })}
      onClick={(event) => {
        event.preventDefault();
        go({ object: of, tab: '' });
      }}
    >
      {text}
    </Anchor>
  );
}

/** A link to an object of a kind that the page shows, otherwise its name. */
export function reference(
  about: {
    readonly kind?: string;
    readonly name?: string;
    readonly namespace?: string;
    readonly uid?: string;
  },
  between = '/',
  words = '',
): ReactNode {
  const { kind: kindName = '', name = '', namespace = '', uid = '' } = about;
  const kind = kindNamed(kindName);
  const text = words || `${kindName}${between}${name}`;
  if (kind === undefined) return text;
  const of = { kind: kind.id, name, uid, namespace: kind.resource.namespaced ? namespace : '' };
  return <ObjectLink of={of} text={text} />;
}
