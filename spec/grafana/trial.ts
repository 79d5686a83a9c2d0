/**
 * Sends every query of the dashboard to a Prometheus that scrapes life.ts, fails if one has no data, and draws the answers.
 *
 *   node --conditions=rx-informer-source spec/grafana/life.ts <node_modules with OpenTelemetry> 9464
 *   prometheus --config.file=spec/grafana/prometheus.yml --web.listen-address=127.0.0.1:9090     # eight minutes
 *   node spec/grafana/trial.ts http://127.0.0.1:9090 8 docs/images/grafana.svg
 */
import { writeFileSync } from 'node:fs';
import { dashboard, type Panel, sent } from './dashboard.ts';
import { type Curve, picture } from './picture.ts';

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
