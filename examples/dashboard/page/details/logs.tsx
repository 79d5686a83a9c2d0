/** The logs of a pod, or of all pods of a workload, while they are shown. */
import { Button, Checkbox, Group, Highlight, Select, TextInput } from '@mantine/core';
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { ApiError, createResourceClient, type Stored } from 'rx-informer';
import { useQuery } from 'rx-informer/react/worker';
import { type Pod, pods } from 'rx-informer/resources';
import {
  catchError,
  concatMap,
  finalize,
  from,
  map,
  type Observable,
  of,
  timer,
  toArray,
} from 'rxjs';
import { client } from '../cluster/cluster.ts';
import { errorWords } from '../cluster/error-words.ts';
import { logIn } from '../kinds/pod-status.ts';
import type { PodContainers } from '../worker/detail-queries.ts';
import classes from './details.module.css';
import { KEPT, type Log, logOf, noLog } from './log-lines.ts';
import { type LogRequest, type LogSource, manyLogs } from './many-logs.ts';
import { readLog } from './read-log.ts';
import { troublesOf } from './troubles.ts';
import { type ObjectProps, podsQuery, usePods } from './use-pods.ts';

/** How often several logs are read, in milliseconds. */
const AGAIN_MS = 5000;
/** The most containers whose logs are read at once. */
const MOST = 10;
/** The choice of all pods or all containers. */
const ALL = '*';

const wordsOf = (error: unknown) => errorWords(ApiError.from(error, 'The log'));

/** A log that is followed. */
function follow({ pod: name, namespace, container }: LogSource) {
  const options = { container, follow: true, tailLines: KEPT };
  return createResourceClient(client, pods).log({ name, namespace }, options);
}

/** The lines of one log, which is followed, or of several ones. */
function linesOf(sources: readonly LogSource[], previous: boolean): Observable<string> {
  const [first] = sources;
  if (first === undefined) return of();
  if (sources.length === 1) {
    return previous ? readLog(first, { previous, tailLines: KEPT }) : follow(first);
  }
  const tailLines = Math.ceil(KEPT / sources.length);
  const ticks$ = previous ? of(0) : timer(0, AGAIN_MS);
  const readOne = (source: LogSource, request: LogRequest) =>
    readLog(source, { previous, ...request });
  return manyLogs(sources, readOne, ticks$, { tailLines, wordsOf });
}

/** Reads the last lines, and those that follow until the component leaves. */
function useLog(sources: readonly LogSource[], previous: boolean): [Log, () => void] {
  const [log, setLog] = useState(noLog);
  const [attempt, setAttempt] = useState(0);
  const key = JSON.stringify(sources);
  // biome-ignore lint/correctness/useExhaustiveDependencies: other containers or a new attempt read the logs again
  useEffect(() => {
    setLog(noLog);
    const subscription = logOf(linesOf(sources, previous), wordsOf).subscribe(setLog);
    return () => subscription.unsubscribe();
  }, [key, previous, attempt]);
  return [log, () => setAttempt((count) => count + 1)];
}

/** The pods of which there are logs: the pod itself, or those that a workload selects. */
function usePodContainers({ kind, object }: ObjectProps): readonly PodContainers[] {
  const { rows } = useQuery(
    kind.id === 'pods' ? undefined : podsQuery('containersOf', kind, object),
  );
  if (kind.id !== 'pods') return rows as readonly PodContainers[];
  const { metadata, spec } = object as Stored<Pod>;
  const { containers = [], initContainers = [] } = spec ?? {};
  const names = [...containers, ...initContainers].map(({ name }) => name);
  const { name, namespace = '' } = metadata;
  return [{ name, namespace, containers: names }];
}

/** The container that fails in one of the pods; '' if none does, and `undefined` before they are known. */
function useFailing({ kind, object }: ObjectProps): string | undefined {
  const rows = usePods(kind, object);
  if (kind.id === 'pods') return troublesOf(object).find(({ logOf }) => logOf)?.logOf ?? '';
  const failing = rows.find(({ log }) => log);
  return rows.length === 0 ? undefined : logIn(String(failing?.['log'] ?? '')).container;
}

export function Logs({ kind, object, isDeleted }: ObjectProps & { readonly isDeleted: boolean }) {
  const all = usePodContainers({ kind, object });
  const isOfOne = kind.id === 'pods';
  const [pod, setPod] = useState(ALL);
  const failing = useFailing({ kind, object });
  const [chosen, choose] = useState<string>();
  // The logs begin with the container that fails. This choice stays, also when the container recovers.
  if (chosen === undefined && failing !== undefined) {
    choose(failing || (isOfOne && all[0]?.containers[0]) || ALL);
  }
  const container = chosen ?? ALL;
  const [previous, setPrevious] = useState(false);
  const [wraps, setWraps] = useState(true);
  const [search, setSearch] = useState('');
  const ofPods = all.filter(({ name }) => pod === ALL || pod === name);
  const names = [...new Set(ofPods.flatMap(({ containers }) => containers))];
  const everything = ofPods.flatMap(({ name, namespace, containers }) =>
    containers
      .filter((each) => container === ALL || container === each)
      .map((each): LogSource => {
        const label = isOfOne ? each : `${name} ${names.length > 1 ? each : ''}`.trim();
        return { namespace, pod: name, container: each, label };
      }),
  );
  const sources = everything.slice(0, MOST);
  const [{ lines, end }, again] = useLog(sources, previous);
  const word = search.toLowerCase();
  const found = word === '' ? lines : lines.filter(({ text }) => text.toLowerCase().includes(word));
  const scroller = useRef<HTMLElement>(null);
  const followsEnd = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs after each new line
  useLayoutEffect(() => {
    const { current } = scroller;
    if (current !== null && followsEnd.current) current.scrollTop = current.scrollHeight;
  }, [lines]);
  return (
    <>
      <Group gap="xs" mb="xs">
        {!isOfOne && (
          <Choice
            label="Pod"
            every={`All ${all.length} Pods`}
            names={all.map(({ name }) => name)}
            value={pod}
            onChange={setPod}
          />
        )}
        <Choice
          label="Container"
          every="All containers"
          names={names}
          value={container}
          onChange={choose}
        />
        <TextInput
          size="xs"
          flex="1 1 140px"
          aria-label="Only lines with"
          placeholder="Only lines with …"
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
      </Group>
      <Group gap="md" mb="xs">
        <Check label="before its last restart" isOn={previous} onChange={setPrevious} />
        <Check label="wrap lines" isOn={wraps} onChange={setWraps} />
        <Download sources={sources} previous={previous} name={object.metadata.name} />
      </Group>
      {everything.length > MOST && (
        <p className={classes.note}>
          {MOST} of {everything.length} logs are shown. Choose a Pod to see another one.
        </p>
      )}
      <section
        ref={scroller}
        className={classes.code}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by the keyboard
        tabIndex={0}
        aria-label="Log"
        data-testid="container-log"
        data-wraps={wraps}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          followsEnd.current = scrollHeight - scrollTop - clientHeight < 24;
        }}
      >
        {found.map(({ id, text }) => (
          <div key={id}>
            {search === '' ? (
              text || ' '
            ) : (
              <Highlight inherit span highlight={search}>
                {text}
              </Highlight>
            )}
          </div>
        ))}
        {found.length === 0 && end === '' && (
          <div className={classes.quiet}>
            {lines.length === 0 ? 'No line yet.' : `None of ${lines.length} lines has this text.`}
          </div>
        )}
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

function Check(props: {
  readonly label: string;
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
}) {
  const { label, isOn, onChange } = props;
  return (
    <Checkbox
      size="xs"
      classNames={{ body: classes.check ?? '' }}
      label={label}
      checked={isOn}
      onChange={() => onChange(!isOn)}
    />
  );
}

function Choice(props: {
  readonly label: string;
  /** The name of the choice of all. */
  readonly every: string;
  readonly names: readonly string[];
  readonly value: string;
  readonly onChange: (value: string) => void;
}) {
  const { label, every, names, value, onChange } = props;
  const one = names.map((name) => ({ value: name, label: name }));
  return (
    <Select<string>
      size="xs"
      flex="1 1 130px"
      aria-label={label}
      data={names.length === 1 ? one : [{ value: ALL, label: every }, ...one]}
      value={(names.length === 1 ? names[0] : value) ?? ALL}
      allowDeselect={false}
      comboboxProps={{ withinPortal: false }}
      onChange={(next) => onChange(next ?? ALL)}
    />
  );
}

/** Reads the logs from their beginnings, and gives them to the browser as a file. */
function Download(props: {
  readonly sources: readonly LogSource[];
  readonly previous: boolean;
  readonly name: string;
}) {
  const { sources, previous, name } = props;
  const [isReading, setReading] = useState(false);
  const save = (lines: readonly string[]) => {
    const url = URL.createObjectURL(new Blob([`${lines.join('\n')}\n`], { type: 'text/plain' }));
    const link = document.createElement('a');
    Object.assign(link, { href: url, download: `${name}.log` }).click();
    URL.revokeObjectURL(url);
  };
  const labelled = (source: LogSource) =>
    readLog(source, { previous }).pipe(
      map((line) => (sources.length === 1 ? line : `${source.label}  ${line}`)),
    );
  const download = () => {
    setReading(true);
    const lines$ = from(sources).pipe(
      concatMap(labelled),
      // What was read before an error is saved, too.
      catchError((error: unknown) => of(`(${wordsOf(error)})`)),
      toArray(),
      finalize(() => setReading(false)),
    );
    lines$.subscribe(save);
  };
  return (
    <Button
      size="compact-xs"
      variant="default"
      loading={isReading}
      disabled={sources.length === 0}
      onClick={download}
    >
      Download
    </Button>
  );
}
