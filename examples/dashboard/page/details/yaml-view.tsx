/** The object as YAML. The lines of the last change are marked. */
import { Button, CopyButton } from '@mantine/core';
import { diffLines } from 'diff';
import { useMemo, useState } from 'react';
import type { KubernetesObject, Stored } from 'rx-informer';
import classes from './details.module.css';
import { yamlText } from './draft.ts';

interface Line {
  readonly id: string;
  readonly text: string;
  readonly isNew: boolean;
}

function linesOf(before: string, now: string): readonly Line[] {
  return diffLines(before, now)
    .filter(({ removed }) => !removed)
    .flatMap(({ value, added }) =>
      value
        .replace(/\n$/, '')
        .split('\n')
        .map((text) => ({ text, isNew: added })),
    )
    .map((line, at) => ({ ...line, id: `${at}` }));
}

const KEY = /^((?:\s|- )*)([^\s:"'#-][^:]*|"[^"]+")(:(?: .*)?)$/;

/** A line with its key in another colour. */
function YamlLine({ text }: { readonly text: string }) {
  const [, before, key, after] = KEY.exec(text) ?? [];
  if (key === undefined) return text || ' ';
  return (
    <>
      {before}
      <span className={classes.key}>{key}</span>
      {after}
    </>
  );
}

export function YamlView({ object }: { readonly object: Stored<KubernetesObject> }) {
  const text = useMemo(() => yamlText(object), [object]);
  const [shown, setShown] = useState({ before: text, now: text });
  if (shown.now !== text) setShown({ before: shown.now, now: text });
  const lines = useMemo(() => linesOf(shown.before, shown.now), [shown]);
  return (
    <>
      <CopyButton value={text}>
        {({ copied, copy }) => (
          <Button size="compact-xs" variant="default" className={classes.copy} onClick={copy}>
            {copied ? 'Copied' : 'Copy'}
          </Button>
        )}
      </CopyButton>
      <section className={`${classes.code} ${classes.whole}`} aria-label="YAML" data-testid="yaml">
        {lines.map(({ id, text: line, isNew }) => (
          <div key={id} data-new={isNew}>
            <YamlLine text={line} />
          </div>
        ))}
      </section>
    </>
  );
}
