/** The simulated scenarios of docs/operations/scaling.md, as tables and curves. */
import type { Measured, ServerCosts } from './costs.ts';
import {
  BROKER,
  type HerdResult,
  herd,
  listMs,
  PRODUCTION,
  type Scenario,
  type SteadyResult,
  steady,
} from './model.ts';

// Draws several lines with logarithmic axes as an SVG image.

/** One line. */
interface Series {
  readonly name: string;
  readonly color: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

interface LogChart {
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
function logChart({ title, xLabel, yLabel, series }: LogChart): string {
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

/** The numbers of clients that are simulated. */
export const CLIENTS: readonly number[] = [10, 100, 1000, 10_000, 100_000];
export const OUTAGE_MS = 60_000;

/** The results for one number of clients. */
export interface Row {
  readonly clients: number;
  readonly direct: SteadyResult;
  readonly nats: SteadyResult;
  readonly herd: HerdResult;
  readonly herdWithoutJitter: HerdResult;
  readonly herdOverNats: HerdResult;
  /** The NATS server was away, and its readers list again. */
  readonly brokerHerd: HerdResult;
}

/** Simulates one number of clients. */
export function simulate(costs: Measured, clients: number): Row {
  const base: Scenario = {
    way: 'direct',
    clients,
    costs,
    server: PRODUCTION,
    broker: BROKER,
    changesPerSecond: 10,
    seed: clients,
  };
  const outage = { ...base, outageMs: OUTAGE_MS };
  return {
    clients,
    direct: steady(base),
    nats: steady({ ...base, way: 'nats' }),
    herd: herd({ ...outage, jitter: true }),
    herdWithoutJitter: herd({ ...outage, jitter: false }),
    herdOverNats: herd({ ...outage, way: 'nats', jitter: true }),
    brokerHerd: herd({
      ...outage,
      jitter: true,
      server: BROKER,
      costs: { ...costs, apiServer: costs.nats },
    }),
  };
}

const number = (value: number) => Math.round(value).toLocaleString('en');

function bytes(value: number): string {
  if (value >= 1e9) return `${(value / 1e9).toFixed(1)} GB`;
  if (value >= 1e6) return `${(value / 1e6).toFixed(1)} MB`;
  return `${(value / 1e3).toFixed(value < 1e4 ? 1 : 0)} kB`;
}

function time(ms: number): string {
  if (ms >= 120_000) return `${(ms / 60_000).toFixed(0)} min`;
  return ms >= 1000 ? `${(ms / 1000).toFixed(1)} s` : `${ms.toFixed(0)} ms`;
}

const percent = (part: number) => (part > 1 ? 'too much' : `${(100 * part).toFixed(0)} %`);
const delay = (ms: number, load: number) => (load > 1 ? 'grows' : time(ms));

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [
    line(head),
    line(head.map((_, at) => (at === 0 ? '---' : '---:'))),
    ...rows.map(line),
  ].join('\n');
}

/** The measured costs. */
export function measuredTable({ apiServer, nats }: Measured): string {
  const both = (name: string, of: (costs: ServerCosts) => string): readonly string[] => [
    name,
    of(apiServer),
    of(nats),
  ];
  const ms = (value: number) => (value < 1 ? `${(1000 * value).toFixed(0)} µs` : time(value));
  return table(
    ['measured', 'kube-apiserver', 'nats-server'],
    [
      both('a list: CPU time of the server', (costs) => ms(listMs(costs))),
      both('a list: bytes', (costs) => bytes(costs.listBytes)),
      both('a change without readers: CPU time of the server', (costs) => ms(costs.changeMs)),
      both('a change for each reader: CPU time of the server', (costs) => ms(costs.deliveryMs)),
      both('a change for each reader: bytes', (costs) => bytes(costs.deliveryBytes)),
      both('until a single reader has a change', ({ anchors }) => ms(anchors.oneDeliveryMs)),
      both('until the last of 100 readers has a change', ({ anchors }) =>
        ms(anchors.lastDeliveryMs),
      ),
      both('100 lists at the same moment', ({ anchors }) => ms(anchors.herdMs)),
      both('a list: CPU time of the reader', (costs) => ms(costs.clientListMs)),
    ],
  );
}

/** One line of the table of the steady state. */
export function steadyCells({ clients, direct, nats }: Row): readonly string[] {
  const perSecond = (total: number) => bytes(total / (direct.durationMs / 1000));
  return [
    number(clients),
    number(direct.api.requests),
    `${perSecond(direct.api.bytes)}/s`,
    percent(direct.load),
    delay(direct.p99Ms, direct.load),
    nats.api.requests === 0 ? 'under 1' : number(nats.api.requests),
    `${perSecond(nats.api.bytes)}/s`,
    percent(nats.load),
    percent(nats.brokerLoad),
    delay(nats.p99Ms, nats.brokerLoad),
  ];
}

/** One line of the table of the herds. */
export function herdCells(row: Row): readonly string[] {
  const { clients, herd: own, herdWithoutJitter, herdOverNats, brokerHerd } = row;
  return [
    number(clients),
    number(own.api.requests),
    number(own.api.refused),
    bytes(own.api.bytes),
    time(own.allMs),
    number(herdWithoutJitter.api.requests),
    number(herdWithoutJitter.api.refused),
    time(herdWithoutJitter.allMs),
    number(herdOverNats.api.requests),
    time(herdOverNats.allMs),
    time(brokerHerd.allMs),
  ];
}

export function tables(rows: readonly Row[]): string {
  const steadyHead = ['clients', 'requests a minute', 'bytes', 'CPU', 'p99 of the delay'];
  const herdHead = ['clients', 'requests', '429', 'bytes', 'all up to date'];
  return [
    'Nothing fails, 10 changes a second:',
    '',
    table(
      [
        ...steadyHead.map((each, at) => (at === 0 ? each : `direct: ${each}`)),
        ...['requests a minute', 'bytes', 'CPU', 'CPU of NATS', 'p99 of the delay'].map(
          (each) => `NATS: ${each}`,
        ),
      ],
      rows.map(steadyCells),
    ),
    '',
    'The API server was away for a minute, and has forgotten the history. Times count from its return:',
    '',
    table(
      [
        ...herdHead.map((each, at) => (at === 0 ? each : `direct: ${each}`)),
        ...['requests', '429', 'all up to date'].map((each) => `without jitter: ${each}`),
        'NATS: requests',
        'NATS: all up to date',
        'NATS itself was away: all up to date',
      ],
      rows.map(herdCells),
    ),
  ].join('\n');
}

const curve = (
  name: string,
  color: string,
  rows: readonly Row[],
  y: (row: Row) => number,
): Series => ({ name, color, points: rows.map((row) => [row.clients, y(row)] as const) });

/** The curves, by the names of their files. */
export function charts(rows: readonly Row[]): Readonly<Record<string, string>> {
  const [direct, nats, bad] = ['#1f5fa8', '#2f9e44', '#c92a2a'];
  const chart = (title: string, yLabel: string, series: readonly Series[]): string =>
    logChart({ title, xLabel: 'clients', yLabel, series } satisfies LogChart);
  const minutes = (row: Row) => row.direct.durationMs / 60_000;
  return {
    'scale-requests.svg': chart('Requests to the API server, nothing fails', 'requests a minute', [
      curve('direct', direct, rows, (row) => row.direct.api.requests / minutes(row)),
      curve('over NATS', nats, rows, (row) => Math.max(0.2, row.nats.api.requests / minutes(row))),
    ]),
    'scale-bytes.svg': chart('Bytes from the API server, 10 changes a second', 'bytes a second', [
      curve('direct', direct, rows, (row) => row.direct.api.bytes / 60 / minutes(row)),
      curve('over NATS', nats, rows, (row) => row.nats.api.bytes / 60 / minutes(row)),
    ]),
    'scale-delay.svg': chart('From a change until the last client has it, p99', 'milliseconds', [
      curve('direct', direct, rows, (row) => row.direct.p99Ms),
      curve('over NATS', nats, rows, (row) => row.nats.p99Ms),
    ]),
    'scale-herd.svg': chart('From the end of an outage until all are up to date', 'seconds', [
      curve('direct, without jitter', bad, rows, (row) => row.herdWithoutJitter.allMs / 1000),
      curve('direct', direct, rows, (row) => row.herd.allMs / 1000),
      curve('over NATS', nats, rows, (row) => row.herdOverNats.allMs / 1000),
    ]),
    'scale-herd-requests.svg': chart('Requests to the API server after an outage', 'requests', [
      curve('direct, without jitter', bad, rows, (row) => row.herdWithoutJitter.api.requests),
      curve('direct', direct, rows, (row) => row.herd.api.requests),
      curve('over NATS', nats, rows, (row) => row.herdOverNats.api.requests),
    ]),
  };
}
