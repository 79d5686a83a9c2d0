/** Draws one line as an SVG image, without a library and without a browser. */

/** A measured point, with the least and the greatest of its runs. */
export interface Point {
  readonly x: number;
  readonly y: number;
  readonly least: number;
  readonly greatest: number;
}

export interface Chart {
  readonly title: string;
  /** What was measured, in one line below the title. */
  readonly note: string;
  readonly xLabel: string;
  readonly yLabel: string;
  readonly points: readonly Point[];
}

const [width, height] = [480, 300];
const plot = { left: 64, right: width - 20, top: 56, bottom: height - 48 };

/** The smallest of 1, 2, 2.5 and 5 times a power of ten that is not below `value`. */
export function roundUp(value: number): number {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 2.5, 5, 10].find((each) => each * power >= value) ?? 10;
  return step * power;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function shown(value: number): string {
  return value >= 10_000 ? `${value / 1000} k` : String(Number(value.toPrecision(3)));
}

interface TextOptions {
  readonly anchor?: 'start' | 'middle' | 'end';
  readonly size?: number;
  readonly turned?: boolean;
}

function text(x: number, y: number, content: string, options: TextOptions = {}): string {
  const { anchor = 'start', size = 11, turned = false } = options;
  const turn = turned ? ` transform="rotate(-90 ${x} ${y})"` : '';
  return `<text x="${x}" y="${y}" font-size="${size}" text-anchor="${anchor}"${turn}>${escaped(content)}</text>`;
}

/** The chart as the text of an SVG file. Both axes are linear and begin at 0. */
export function lineChart({ title, note, xLabel, yLabel, points }: Chart): string {
  const mostX = Math.max(1, ...points.map(({ x }) => x));
  const mostY = roundUp(Math.max(0, ...points.map(({ greatest }) => greatest)));
  const atX = (x: number) =>
    Number((plot.left + (x / mostX) * (plot.right - plot.left)).toFixed(1));
  const atY = (y: number) =>
    Number((plot.bottom - (y / mostY) * (plot.bottom - plot.top)).toFixed(1));
  const grid = [0, 0.25, 0.5, 0.75, 1].flatMap((part) => {
    const y = atY(part * mostY);
    return [
      `<line x1="${plot.left}" y1="${y}" x2="${plot.right}" y2="${y}" stroke="#ddd"/>`,
      text(plot.left - 6, y + 4, shown(part * mostY), { anchor: 'end' }),
    ];
  });
  const marks = points.flatMap(({ x, y, least, greatest }) => [
    `<line x1="${atX(x)}" y1="${atY(least)}" x2="${atX(x)}" y2="${atY(greatest)}" stroke="#7aa5d8" stroke-width="3"/>`,
    `<circle cx="${atX(x)}" cy="${atY(y)}" r="3" fill="#1f5fa8"/>`,
    text(atX(x), plot.bottom + 14, shown(x), { anchor: 'middle', size: 10 }),
  ]);
  const line = points.map(({ x, y }) => `${atX(x)},${atY(y)}`).join(' ');
  const middle = (plot.left + plot.right) / 2;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="sans-serif">`,
    `<rect width="${width}" height="${height}" fill="white"/>`,
    text(16, 22, title, { size: 14 }),
    text(16, 40, note, { size: 10 }),
    ...grid,
    `<polyline points="${line}" fill="none" stroke="#1f5fa8" stroke-width="1.5"/>`,
    ...marks,
    text(middle, height - 10, xLabel, { anchor: 'middle' }),
    text(16, (plot.top + plot.bottom) / 2, yLabel, { anchor: 'middle', turned: true }),
    '</svg>\n',
  ].join('\n');
}
