/** Compares the page with the server, which shows whether a change was lost. */
import { Button, Text } from '@mantine/core';
import { useCallback, useEffect, useState } from 'react';
import { checkTruth, type Verdict } from '../cluster/check-truth.ts';
import { AlertIcon, CheckIcon } from '../layout/icons.tsx';
import classes from './server-panel.module.css';

const EVERY_MS = 2000;
const number = new Intl.NumberFormat('en-US');

export function TruthCheck() {
  const [verdict, setVerdict] = useState<Verdict>();
  const check = useCallback(
    () => void checkTruth().then(setVerdict, () => setVerdict(undefined)),
    [],
  );
  useEffect(() => {
    const timer = setInterval(check, EVERY_MS);
    check();
    return () => clearInterval(timer);
  }, [check]);
  return (
    <section aria-labelledby="truth">
      <Text component="h2" id="truth" className={classes.heading}>
        Truth check
      </Text>
      <div
        className={classes.verdict}
        data-testid="truth"
        data-equal={verdict?.equal}
        data-ahead={verdict?.ahead}
        data-version={verdict?.resourceVersion}
      >
        {verdict === undefined ? (
          'Nothing to compare yet.'
        ) : (
          <>
            {verdict.equal ? <CheckIcon /> : <AlertIcon />}
            <span>
              Page equals server: <b>{verdict.equal ? 'yes' : 'no'}</b> (
              {number.format(verdict.count)} pods)
              <Text size="xs" c="dimmed">
                at resourceVersion {verdict.resourceVersion}
                {verdict.ahead > 0 &&
                  `; ${number.format(verdict.ahead)} ${verdict.ahead === 1 ? 'change' : 'changes'} not received yet`}
              </Text>
            </span>
          </>
        )}
      </div>
      <Button variant="default" size="xs" mt={6} fullWidth onClick={check}>
        Check now
      </Button>
    </section>
  );
}
