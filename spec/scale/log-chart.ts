/** Draws several lines with logarithmic axes as an SVG image. */

/** One line. */
export interface Series {
  readonly name: string;
  readonly color: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

export interface LogChart {
  readonly title: string;
  readonly xLabel: string;
  readonly yLabel: string;
  readonly series: readonly Series[];
}

const [width, height] = [520, 320];
const plot = { left: 62, right: width - 20, top: 46, bottom: height - 46 };

function shown(value: number): string {
  if (value >= 1e6) return `${value / 1e6} M`;
  return value >= 1000 ? `${value / 1000} k` : String(value);
}

function text(x: number, y: number, content: string, more = ''): string {
  return `<text x="${x}" y="${y}" font-size="11" ${more}>${content}</text>`;
}

function powers(least: number, most: number): number[] {
  const found: number[] = [];
  for (let at = Math.floor(Math.log10(least)); 10 ** (at - 1) < most; at++) found.push(10 ** at);
  return found;
}

/** The chart as the text of an SVG file. Values of 0 are drawn at the lower edge. */
export function logChart({ title, xLabel, yLabel, series }: LogChart): string {
  const all = series.flatMap(({ points }) => points);
  const positive = all.map(([, y]) => y).filter((y) => y > 0);
  const xs = powers(Math.min(...all.map(([x]) => x)), Math.max(...all.map(([x]) => x)));
  const ys = powers(Math.min(...positive), Math.max(...positive));
  const scale = (values: readonly number[], from: number, to: number) => {
    const [first, last] = [Math.log10(values[0] ?? 1), Math.log10(values.at(-1) ?? 10)];
    return (value: number) => {
      const part =
        (Math.log10(Math.max(value, values[0] ?? 1)) - first) / Math.max(1, last - first);
      return Number((from + part * (to - from)).toFixed(1));
    };
  };
  const atX = scale(xs, plot.left, plot.right);
  const atY = scale(ys, plot.bottom, plot.top);
  const grid = [
    ...ys.map(
      (y) =>
        `<line x1="${plot.left}" y1="${atY(y)}" x2="${plot.right}" y2="${atY(y)}" stroke="#ddd"/>`,
    ),
    ...ys.map((y) => text(plot.left - 6, atY(y) + 4, shown(y), 'text-anchor="end"')),
    ...xs.map((x) => text(atX(x), plot.bottom + 16, shown(x), 'text-anchor="middle"')),
  ];
  const lines = series.flatMap(({ name, color, points }, at) => {
    const path = points.map(([x, y]) => `${atX(x)},${atY(y)}`).join(' ');
    const top = plot.top + 14 + at * 16;
    return [
      `<polyline points="${path}" fill="none" stroke="${color}" stroke-width="2"/>`,
      ...points.map(([x, y]) => `<circle cx="${atX(x)}" cy="${atY(y)}" r="2.5" fill="${color}"/>`),
      `<line x1="${plot.left + 10}" y1="${top - 4}" x2="${plot.left + 30}" y2="${top - 4}" stroke="${color}" stroke-width="2"/>`,
      text(plot.left + 36, top, name),
    ];
  });
  const middle = (plot.top + plot.bottom) / 2;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="sans-serif">`,
    `<rect width="${width}" height="${height}" fill="white"/>`,
    text(16, 24, title, 'font-weight="bold"'),
    ...grid,
    ...lines,
    text((plot.left + plot.right) / 2, height - 10, xLabel, 'text-anchor="middle"'),
    text(16, middle, yLabel, `text-anchor="middle" transform="rotate(-90 16 ${middle})"`),
    '</svg>',
    '',
  ].join('\n');
}
