/**
 * Sends every query of the dashboard to a Prometheus that scrapes life.ts, fails if one has no data, and draws the answers.
 *
 *   node --conditions=rx-informer-source spec/grafana/life.ts <node_modules with OpenTelemetry> 9464
 *   prometheus --config.file=spec/grafana/prometheus.yml --web.listen-address=127.0.0.1:9090     # eight minutes
 *   node spec/grafana/trial.ts http://127.0.0.1:9090 8 docs/images/grafana.svg
 */
import { writeFileSync } from 'node:fs';
import { dashboard, type Panel, sent } from './dashboard.ts';

// Draws the answers to the queries of a dashboard, as an SVG image with the places of its panels.

/** The answer to one query: a name, and values over time in minutes. */
interface Curve {
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
function picture(
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

const STEP_SECONDS = 5;
const [url = 'http://127.0.0.1:9090', length = '8', file = ''] = process.argv.slice(2);
const minutes = Number(length);
const end = Date.now() / 1_000;
const start = end - minutes * 60;

interface Answer {
  readonly error?: string;
  readonly data?: {
    readonly result: readonly {
      readonly metric: Readonly<Record<string, string>>;
      readonly values: readonly (readonly [number, string])[];
    }[];
  };
}

async function curvesOf({ title, targets = [] }: Panel): Promise<Curve[]> {
  const curves: Curve[] = [];
  for (const { expr, legendFormat } of targets) {
    const query = sent(expr, 4 * STEP_SECONDS);
    const search = new URLSearchParams({
      ...{ query, start: String(start), end: String(end), step: String(STEP_SECONDS) },
    });
    const response = await fetch(`${url}/api/v1/query_range?${search}`);
    const { data, error } = (await response.json()) as Answer;
    const found = (data?.result ?? []).map(({ metric, values }) => ({
      name: legendFormat.replaceAll(/\{\{(\w+)\}\}/g, (_, label: string) => metric[label] ?? ''),
      points: values
        .map(([at, value]) => [(at - start) / 60, Number(value)] as const)
        .filter(([, value]) => Number.isFinite(value)),
    }));
    const values = found.flatMap(({ points }) => points.map(([, value]) => value));
    const range = `${values.length} values, ${Math.min(...values)} to ${Math.max(...values)}`;
    console.log(`${title}: ${legendFormat}: ${error ?? range}`);
    if (values.length === 0) process.exitCode = 1;
    curves.push(...found);
  }
  return curves;
}

const curves: Curve[][] = [];
for (const panel of dashboard.panels) curves.push(await curvesOf(panel));
if (file !== '') writeFileSync(file, picture(dashboard.panels, curves, minutes));
