/** The last line in the log of a container that fails, which mostly says why. */
import { useEffect, useState } from 'react';
import { lastValueFrom } from 'rxjs';
import { logIn } from '../kinds/pod-status.ts';

/** The time at the beginning of a line. */
const TIME = /^\d{4}-\d\d-\d\dT\S+ /;

const known = new Map<string, Promise<string>>();
const MOST = 500;

async function read(log: string): Promise<string> {
  const { previous, ...source } = logIn(log);
  const { readLog } = await import('../details/read-log.ts');
  const lines$ = readLog({ ...source, label: '' }, { tailLines: 1, previous });
  return (await lastValueFrom(lines$, { defaultValue: '' })).replace(TIME, '');
}

/** Reads the log once for each restart. `log` is what {@link logOf} says; without it there is no line. */
export function useLastLine(log: string | number = ''): string {
  const [line, setLine] = useState('');
  useEffect(() => {
    const of = String(log);
    if (of === '') return setLine('');
    if (known.size > MOST) known.clear();
    const reading = known.get(of) ?? read(of).catch(() => '');
    known.set(of, reading);
    let isShown = true;
    void reading.then((text) => isShown && setLine(text));
    return () => {
      isShown = false;
    };
  }, [log]);
  return line;
}
