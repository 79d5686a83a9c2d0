/** Says whether the rows follow the cluster. */
import { useEffect, useState } from 'react';
import { describeStatus } from 'rx-informer';
import { useStatus } from 'rx-informer/react';

const WORDS = { live: 'Live', busy: 'Loading', stale: 'Not live', stopped: 'Stopped' } as const;

/** The time in milliseconds, which advances once per second while `runs`. */
function useNow(runs: boolean): number {
  const [nowMs, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!runs) return;
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [runs]);
  return nowMs;
}

/** A lost connection is noticed here within seconds. The rows stay on the page, and their age is shown. */
export function StatusLine() {
  const status = useStatus();
  const isLive = status.status.live === true;
  const nowMs = useNow(!isLive);
  const { tone, text } = describeStatus(status.status, { nowMs });
  const isOld = status.status.synced === true && tone === 'busy';
  return (
    <p className={`status ${isOld ? 'stale' : tone}`}>
      {/* A screen reader reads this when it changes, but not the age, which changes each second. */}
      <strong role="status">{WORDS[isOld ? 'stale' : tone]}</strong>
      {tone !== 'live' && <span>{text}</span>}
    </p>
  );
}
