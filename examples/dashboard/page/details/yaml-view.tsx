/** The object as YAML. The lines of the last change are marked. */

import { classHighlighter, highlightCode } from '@lezer/highlight';
import { parser } from '@lezer/yaml';
import { Button, CopyButton } from '@mantine/core';
import { diffLines } from 'diff';
import { type ReactNode, useMemo, useState } from 'react';
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

/** The parts of each line of a text, each with the class of its token. */
function partsOf(text: string): readonly ReactNode[][] {
  const lines: ReactNode[][] = [[]];
  const put = (part: string, token: string) =>
    lines.at(-1)?.push(
      token ? (
        <span key={lines.at(-1)?.length} className={token}>
          {part}
        </span>
      ) : (
        part
      ),
    );
  highlightCode(text, parser.parse(text), classHighlighter, put, () => lines.push([]));
  return lines;
}

export function YamlView({ object }: { readonly object: Stored<KubernetesObject> }) {
  const text = useMemo(() => yamlText(object), [object]);
  const [shown, setShown] = useState({ before: text, now: text });
  if (shown.now !== text) setShown({ before: shown.now, now: text });
  const lines = useMemo(() => linesOf(shown.before, shown.now), [shown]);
  const parts = useMemo(() => partsOf(shown.now), [shown]);
  return (
    <>
      <CopyButton value={text}>
        {({ copied, copy }) => (
          <Button size="compact-xs" variant="default" className={classes.copy} onClick={copy}>
            {copied ? 'Copied' : 'Copy'}
          </Button>
        )}
      </CopyButton>
      <section
        className={`${classes.code} ${classes.whole} ${classes.tokens}`}
        aria-label="YAML"
        data-testid="yaml"
      >
        {lines.map(({ id, text: line, isNew }) => (
          <div key={id} data-new={isNew}>
            {parts[Number(id)]?.length ? parts[Number(id)] : line || ' '}
          </div>
        ))}
      </section>
    </>
  );
}
