/** Draws the answers to the queries of a dashboard, as an SVG image with the places of its panels. */
import type { Panel } from './dashboard.ts';

/** The answer to one query: a name, and values over time in minutes. */
export interface Curve {
  readonly name: string;
  readonly points: readonly (readonly [minute: number, value: number])[];
}

const [column, line] = [38, 19];
const COLORS = ['#1f5fa8', '#2f9e44', '#c92a2a', '#e8890c', '#7048b6', '#0b8a8f'];
const UNITS: Readonly<Record<string, string>> = { s: ' s', cpm: ' / min', short: '' };

function text(x: number, y: number, content: string, more = ''): string {
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${x}" y="${y}" font-size="10" ${more}>${escaped}</text>`;
}

const shown = (value: number) => String(Number(value.toPrecision(2)));

function drawn(panel: Panel, curves: readonly Curve[], minutes: number): string[] {
  const { x, y, w, h } = panel.gridPos;
  const [left, top] = [x * column + 8, y * line + 4];
  const [width, height] = [w * column - 16, h * line - 8];
  const plot = {
    left: left + 62,
    right: left + width - 8,
    top: top + 24,
    bottom: top + height - 44,
  };
  const most =
    Math.max(...curves.flatMap(({ points }) => points.map(([, value]) => value)), 0) || 1;
  const unit = UNITS[panel.fieldConfig?.defaults.unit ?? ''] ?? '';
  const atX = (minute: number) => plot.left + (minute / minutes) * (plot.right - plot.left);
  const atY = (value: number) => plot.bottom - (value / most) * (plot.bottom - plot.top);
  const legendWidth = width / Math.min(curves.length, w > 8 ? 4 : 2);
  return [
    `<rect x="${left}" y="${top}" width="${width}" height="${height}" fill="white" stroke="#ccc" rx="3"/>`,
    text(left + 8, top + 15, panel.title, 'font-weight="bold"'),
    ...[0, 0.5, 1].flatMap((part) => {
      const at = atY(part * most).toFixed(1);
      return [
        `<line x1="${plot.left}" y1="${at}" x2="${plot.right}" y2="${at}" stroke="#e5e5e5"/>`,
        text(plot.left - 4, Number(at) + 3, `${shown(part * most)}${unit}`, 'text-anchor="end"'),
      ];
    }),
    ...[0, minutes / 2, minutes].map((minute) => {
      const anchor = minute === minutes ? 'end' : 'middle';
      return text(atX(minute), plot.bottom + 12, `${shown(minute)} min`, `text-anchor="${anchor}"`);
    }),
    ...curves.flatMap(({ name, points }, at) => {
      const color = COLORS[at % COLORS.length];
      const path = points.map(
        ([minute, value]) => `${atX(minute).toFixed(1)},${atY(value).toFixed(1)}`,
      );
      const perLine = Math.round(width / legendWidth);
      const place = left + 8 + (at % perLine) * legendWidth;
      const bottom =
        top + height - (curves.length > perLine ? 20 : 9) + 12 * Math.floor(at / perLine);
      return [
        `<polyline points="${path.join(' ')}" fill="none" stroke="${color}" stroke-width="1.5"/>`,
        `<rect x="${place.toFixed(1)}" y="${bottom - 5}" width="9" height="3" fill="${color}"/>`,
        text(Number((place + 12).toFixed(1)), bottom, name),
      ];
    }),
  ];
}

/** The picture as the text of an SVG file. The curves are those of the panels, in the order of the panels. */
export function picture(
  panels: readonly Panel[],
  curves: readonly (readonly Curve[])[],
  minutes: number,
): string {
  const height = Math.max(...panels.map(({ gridPos }) => gridPos.y + gridPos.h)) * line + 8;
  const width = 24 * column;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="sans-serif">`,
    `<rect width="${width}" height="${height}" fill="#f6f6f6"/>`,
    ...panels.flatMap((panel, at) =>
      panel.type === 'row'
        ? [text(12, panel.gridPos.y * line + 16, panel.title, 'font-weight="bold"')]
        : drawn(panel, curves[at] ?? [], minutes),
    ),
    '</svg>\n',
  ].join('\n');
}
