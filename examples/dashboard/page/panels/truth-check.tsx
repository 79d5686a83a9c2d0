/** Compares the page with the server, which shows whether a change was lost. */
import { Button, Group, Text } from '@mantine/core';
import { useCallback, useEffect, useState } from 'react';
import { clock, counted, number } from '../../shared/words.ts';
import { TruthChecker, type Verdict } from '../cluster/check-truth.ts';
import { onlyNamespace } from '../cluster/settings.ts';
import { AlertIcon, CheckIcon } from '../layout/icons.tsx';
import { PanelPart } from './panel-part.tsx';
import classes from './server-panel.module.css';

const EVERY_MS = 2000;

export function TruthCheck() {
  const [checker] = useState(() => new TruthChecker());
  const [verdict, setVerdict] = useState<Verdict>();
  /** The last verdict, which says nothing about now. */
  const [last, setLast] = useState<Verdict>();
  const check = useCallback(
    () =>
      void checker.check().then(
        (next) => {
          setVerdict(next);
          if (next !== undefined) setLast(next);
        },
        () => setVerdict(undefined),
      ),
    [checker],
  );
  useEffect(() => {
    const stop = checker.start();
    const timer = setInterval(check, EVERY_MS);
    check();
    return () => {
      clearInterval(timer);
      stop();
    };
  }, [checker, check]);
  return (
    <PanelPart title="Truth check">
      <Group
        align="flex-start"
        gap={8}
        wrap="nowrap"
        mih={44}
        fz={13}
        className={classes.verdict}
        data-testid="truth"
        data-equal={verdict?.equal}
        data-ahead={verdict?.ahead}
        data-version={verdict?.resourceVersion}
      >
        {verdict === undefined ? <NotCompared last={last} /> : <Compared verdict={verdict} />}
      </Group>
      <Button variant="default" size="xs" mt={6} fullWidth onClick={check}>
        Check now
      </Button>
    </PanelPart>
  );
}

function NotCompared({ last }: { readonly last: Verdict | undefined }) {
  if (onlyNamespace !== '') {
    return 'Not compared, because the page shows one namespace, and the server counts all pods.';
  }
  if (last === undefined) return 'Nothing to compare yet.';
  return (
    <span>
      Not compared, because the page is not connected now. It was last compared at{' '}
      {clock.format(last.atMs)}, when it {last.equal ? 'equalled' : 'differed from'} the server.
    </span>
  );
}

function Compared({ verdict }: { readonly verdict: Verdict }) {
  const { equal, count, ahead, atMs } = verdict;
  const ago = `as it was ${counted(ahead, 'change')} ago`;
  return (
    <>
      {equal ? <CheckIcon /> : <AlertIcon />}
      <span>
        Page equals server{ahead > 0 && ` ${ago}`}: <b>{equal ? 'yes' : 'no'}</b> (
        {number.format(count)} pods)
        <Text size="xs" c="dimmed">
          at {clock.format(atMs)}
        </Text>
      </span>
    </>
  );
}
