/** The log of a container, followed while it is shown. */
import { Button, Checkbox, Group, Select } from '@mantine/core';
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { ApiError, createResourceClient, type Stored } from 'rx-informer';
import { type Pod, pods } from 'rx-informer/resources';
import { client } from '../cluster/cluster.ts';
import { errorWords } from '../cluster/error-words.ts';
import classes from './details.module.css';
import { KEPT, type Log, logOf, noLog } from './log-lines.ts';

/** Reads the last lines and follows the log until the component leaves. */
function useLog(pod: Stored<Pod>, container: string, previous: boolean): [Log, () => void] {
  const { name, namespace = '', uid } = pod.metadata;
  const [log, setLog] = useState(noLog);
  const [attempt, setAttempt] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new pod or a new attempt reads the log again
  useEffect(() => {
    setLog(noLog);
    const options = { container, previous, follow: !previous, tailLines: KEPT };
    const texts$ = createResourceClient(client, pods).log({ name, namespace }, options);
    const subscription = logOf(texts$, (error) =>
      errorWords(ApiError.from(error, 'The log')),
    ).subscribe(setLog);
    return () => subscription.unsubscribe();
  }, [name, namespace, uid, container, previous, attempt]);
  return [log, () => setAttempt((count) => count + 1)];
}

export function Logs({
  pod,
  isDeleted,
}: {
  readonly pod: Stored<Pod>;
  readonly isDeleted: boolean;
}) {
  const { containers = [], initContainers = [] } = pod.spec ?? {};
  const names = [...containers, ...initContainers].map(({ name }) => name);
  const [container, setContainer] = useState(names[0] ?? '');
  const [previous, setPrevious] = useState(false);
  const [{ lines, end }, again] = useLog(pod, container, previous);
  const scroller = useRef<HTMLElement>(null);
  const followsEnd = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs after each new line
  useLayoutEffect(() => {
    const { current } = scroller;
    if (current !== null && followsEnd.current) current.scrollTop = current.scrollHeight;
  }, [lines]);
  return (
    <>
      <Group gap="sm" mb="xs">
        <Select
          size="xs"
          aria-label="Container"
          data={names}
          value={container}
          allowDeselect={false}
          comboboxProps={{ withinPortal: false }}
          onChange={(next) => setContainer(next ?? '')}
        />
        <Checkbox
          size="xs"
          label="before its last restart"
          checked={previous}
          onChange={(event) => setPrevious(event.currentTarget.checked)}
        />
      </Group>
      <section
        ref={scroller}
        className={classes.code}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by the keyboard
        tabIndex={0}
        aria-label={`Log of ${container}`}
        data-testid="container-log"
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          followsEnd.current = scrollHeight - scrollTop - clientHeight < 24;
        }}
      >
        {lines.map(({ id, text }) => (
          <div key={id}>{text || ' '}</div>
        ))}
        {lines.length === 0 && end === '' && <div className={classes.quiet}>No line yet.</div>}
      </section>
      {end !== '' && (
        <Group gap="sm" mt="xs" role="status">
          <span className={classes.text}>{end}</span>
          {!isDeleted && (
            <Button size="compact-xs" variant="default" onClick={again}>
              Read again
            </Button>
          )}
        </Group>
      )}
    </>
  );
}
