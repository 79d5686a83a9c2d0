/** Names that are shortened before their last characters, because names differ at their ends. */
import { createContext, useContext } from 'react';
import classes from './cells.module.css';
import { shortenedTo } from './shortened.ts';

/** The widths of the columns of the table, in pixels, by their ids, and whether it is that of a phone, where names are small. */
export interface Widths {
  readonly byId: Readonly<Record<string, number>>;
  readonly isPhone: boolean;
}

export const ColumnWidths = createContext<Widths>({ byId: {}, isPhone: false });

/** How a text is set: `500 13px`. */
type Font = `${number} ${number}px`;

const SMALL: Font = '400 12px';
const fonts: Readonly<Record<'phone' | 'desk', Font>> = { phone: '500 12px', desk: '500 13px' };

const KEPT = 6;
const pen = () => document.createElement('canvas').getContext('2d');
let measuring: ReturnType<typeof pen> | undefined;

function widthOf(text: string, font: Font): number {
  measuring ??= pen();
  if (measuring === null) return 0;
  measuring.font = `${font} ${getComputedStyle(document.body).fontFamily}`;
  return measuring.measureText(text).width;
}

/** A name in a column, with the width of what stands beside it. Without a column the browser shortens it. */
export function ShortName(props: {
  readonly text: string;
  readonly column?: string;
  readonly beside?: number;
  /** A text that stands before it; both are small then. */
  readonly before?: string;
}) {
  const { text, column = '', beside = 0, before } = props;
  const { byId, isPhone } = useContext(ColumnWidths);
  const width = byId[column];
  const font = before === undefined ? fonts[isPhone ? 'phone' : 'desk'] : SMALL;
  const at = Math.max(text.length - KEPT, 0);
  const [start, end] = [text.slice(0, at), text.slice(at)];
  // The part before the ellipsis has exactly its width, so that no gap is left between it and the end.
  const measure = (part: string) => widthOf(part, font);
  const most =
    width === undefined
      ? undefined
      : shortenedTo(start, width - beside - measure(`${before ?? ''}${end}`) - 1, measure);
  return (
    <span className={classes.short} title={text}>
      <span
        className={classes.start}
        style={most === undefined ? undefined : { width: Math.ceil(most) }}
      >
        {start}
      </span>
      <span>{end}</span>
    </span>
  );
}
