/** The log of the recent status changes, with their times. */
import { clock } from '../../shared/words.ts';
import { useValue } from '../cluster/use-live.ts';
import { PanelPart } from './panel-part.tsx';
import classes from './server-panel.module.css';
import { lines$ } from './use-activity.ts';

export function ActivityLog() {
  const lines = useValue(lines$);
  return (
    <PanelPart title="Informer activity">
      <ul className={classes.log} data-testid="log">
        {lines.map(({ id, atMs, text }) => (
          <li key={id}>
            <time dateTime={new Date(atMs).toISOString()}>{clock.format(atMs)}</time>
            <span>{text}</span>
          </li>
        ))}
      </ul>
    </PanelPart>
  );
}
