/** Edits an object: a draft, its difference, and the write, which never overwrites the change of somebody else. */
import { Alert, Button, Group, Loader, Text } from '@mantine/core';
import { structuredPatch } from 'diff';
import { Suspense, useEffect, useState } from 'react';
import { ApiError, type KubernetesObject, type Resource } from 'rx-informer';
import { useEdit } from 'rx-informer/react/worker';
import { errorWords } from '../cluster/error-words.ts';
import { loadedLater } from '../layout/loaded.tsx';
import classes from './details.module.css';
import { draftText, keepUnsaved, readDraft, recipeOf, unsavedOf } from './draft.ts';
import { Act } from './pairs.tsx';
import type { ObjectProps } from './use-pods.ts';

const YamlEditor = loadedLater(async () => (await import('./yaml-editor.tsx')).YamlEditor);

type Outcome = { readonly isGood: boolean; readonly text: string };

function problemOf(text: string): string | undefined {
  try {
    readDraft(text);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

export function EditObject({ kind, object }: ObjectProps) {
  const [base, setBase] = useState(() => unsavedOf(object)?.base ?? object);
  const [text, setText] = useState(() => unsavedOf(object)?.text ?? draftText(object));
  const [reviews, review] = useState(false);
  const { edit, pending } = useEdit(kind.resource as Resource<KubernetesObject>);
  const [outcome, setOutcome] = useState<Outcome>();
  const before = draftText(base);
  const isSaved = outcome?.isGood === true;
  useEffect(
    () => keepUnsaved({ base, text: isSaved ? draftText(base) : text }),
    [base, text, isSaved],
  );
  const problem = problemOf(text);
  const isOutdated = pending === 0 && draftText(object) !== before;
  const startAgain = () => {
    setBase(object);
    setText(draftText(object));
    setOutcome(undefined);
    review(false);
  };
  const send = async () => {
    try {
      await edit(base, recipeOf(base, text));
      setOutcome({ isGood: true, text: 'The server has accepted the change.' });
      review(false);
    } catch (error) {
      setOutcome({ isGood: false, text: errorWords(ApiError.from(error, 'The change')) });
    }
  };
  return (
    <>
      {isOutdated && !isSaved && (
        <Alert color="orange" mb="sm" title="The object has changed since you began">
          Your draft can be sent only for the newest version.{' '}
          <Act onClick={startAgain}>Start again from the newest version</Act>
        </Alert>
      )}
      {outcome !== undefined && (
        <Alert
          color={outcome.isGood ? 'teal' : 'red'}
          mb="sm"
          role="status"
          title={outcome.isGood ? 'Saved' : 'Not saved'}
        >
          {outcome.text}
          {outcome.isGood && ' '}
          {outcome.isGood && <Act onClick={startAgain}>Edit again</Act>}
        </Alert>
      )}
      {reviews ? (
        <Difference before={before} after={text} />
      ) : (
        <Suspense fallback={<Loader size="sm" aria-label="Loading the editor" />}>
          <YamlEditor label="Draft as YAML" value={text} onChange={setText} />
          {problem !== undefined && (
            <Text size="sm" mt="xs" role="alert" c="var(--bad)">
              {problem}
            </Text>
          )}
        </Suspense>
      )}
      <Group gap="sm" mt="sm" className={classes.actions}>
        {reviews ? (
          <>
            <Button size="xs" loading={pending > 0} onClick={() => void send()}>
              Send the change
            </Button>
            <Button size="xs" variant="default" onClick={() => review(false)}>
              Back to the draft
            </Button>
          </>
        ) : (
          <Button
            size="xs"
            disabled={problem !== undefined || text === before || isSaved}
            onClick={() => review(true)}
          >
            Review the change
          </Button>
        )}
        {!reviews && text !== before && (
          <Button size="xs" variant="subtle" onClick={startAgain}>
            Discard the draft
          </Button>
        )}
      </Group>
    </>
  );
}

const signs: Readonly<Record<string, string>> = { '+': 'added', '-': 'removed' };

function Difference({ before, after }: { readonly before: string; readonly after: string }) {
  const { hunks } = structuredPatch('object', 'draft', before, after, '', '', { context: 3 });
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by the keyboard
    <section className={classes.code} tabIndex={0} aria-label="Difference" data-testid="difference">
      {hunks.map(({ oldStart, lines }) => (
        <div key={oldStart}>
          <div className={classes.quiet}>from line {oldStart}</div>
          {lines.map((line, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the lines never change their places
            <div key={at} data-change={signs[line[0] ?? '']}>
              {line}
            </div>
          ))}
        </div>
      ))}
    </section>
  );
}
