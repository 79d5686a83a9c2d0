/** Tests that the Grafana dashboard and the alerts ask for what the library measures, and that each alert says what to do and is tested. */

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { scrapedProgram } from '../metrics/running-program.ts';
import { PromQl } from './promql.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const text = (file: string) => readFileSync(`${root}${file}`, 'utf8');

interface Panel {
  readonly type: 'row' | 'timeseries';
  readonly title: string;
  readonly description?: string;
  readonly gridPos: {
    readonly x: number;
    readonly y: number;
    readonly w: number;
    readonly h: number;
  };
  readonly fieldConfig?: { readonly defaults: { readonly unit: string } };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

interface Variable {
  readonly name: string;
  readonly query: string | { readonly query: string };
}

interface Dashboard {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly Variable[] };
}

const dashboard: Dashboard = JSON.parse(text('examples/grafana/rx-informer.json'));

/** Panel units of Grafana, by the units that result from the queries. */
const GRAFANA_UNITS: Readonly<Record<string, string>> = {
  s: 's',
  '/min': 'cpm',
  '': 'short',
  's/s': 'short',
  'By/s': 'Bps',
};

const { instruments } = await scrapedProgram();

test('each panel asks for metrics and labels of the library, in PromQL, and has their unit', () => {
  const used = new Set<string>();
  for (const { title, type, targets = [], fieldConfig, description } of dashboard.panels) {
    if (type === 'row') continue;
    expect(description, title).toMatch(/\.$/);
    expect(targets.length, title).toBeGreaterThan(0);
    for (const { expr, legendFormat } of targets) {
      const query = new PromQl(expr, instruments);
      const { unit, labels } = query.whole();
      expect(fieldConfig?.defaults.unit, `${title}: ${expr}`).toBe(GRAFANA_UNITS[unit]);
      const [, legend = ''] = /\{\{(\w+)\}\}/.exec(legendFormat) ?? [];
      expect([...labels], `${title}: ${legendFormat}`).toEqual([legend]);
      for (const name of query.used) used.add(name);
    }
  }
  // The dashboard shows everything that is measured.
  expect([...used].toSorted()).toEqual([...instruments.keys()].toSorted());
});

test('each variable in a query exists, and its values are those of a label', () => {
  const text = JSON.stringify(dashboard.panels);
  const names = new Set([...text.matchAll(/"\$(?!__)(\w+)\\"/g)].map(([, name]) => name));
  const variables = dashboard.templating.list.filter(({ query }) => typeof query === 'object');
  expect([...names].toSorted()).toEqual(variables.map(({ name }) => name).toSorted());
  const labels = variables.map(({ query }) =>
    new PromQl((query as { query: string }).query, instruments).labelValues(),
  );
  expect(labels).toEqual(['job', 'name', 'name']);
});

test('panels do not overlap', () => {
  const places = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, at) => `${x + (at % w)}/${y + Math.floor(at / w)}`),
  );
  expect(new Set(places).size).toBe(places.length);
});

test.each([
  ['a metric that does not exist', 'sum by (name) (informer_object)'],
  ['a histogram without its part', 'sum by (name) (workqueue_work_duration_seconds)'],
  ['a label that does not exist', 'sum by (nom) (informer_objects)'],
  ['a selector with an unknown label', 'sum by (name) (informer_objects{nom="a"})'],
  ['a rate of a gauge', 'sum by (name) (rate(informer_objects[$__rate_interval]))'],
  ['a rate without a range', 'sum by (name) (rate(informer_relists_total))'],
  ['a range as a result', 'informer_objects[$__rate_interval]'],
  [
    'a quantile without le',
    'histogram_quantile(0.5, sum by (name) (rate(workqueue_work_duration_seconds_bucket[$__rate_interval])))',
  ],
  ['a parenthesis that is not closed', 'sum by (name) (informer_objects'],
  ['a comparison that is no number', 'sum by (name) (informer_objects > 5)'],
  ['a comparison of a counter', 'sum by (name) (informer_relists_total > bool 5)'],
  ['a factor that makes no rate per minute', '60 * sum by (name) (informer_objects)'],
])('the check refuses %s', (_, expr) => {
  expect(() => new PromQl(expr, instruments).whole()).toThrow();
});

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert: string;
      readonly expr: string;
      readonly labels: { readonly severity: string };
      readonly annotations: { readonly summary: string; readonly action: string };
    }[];
  }[];
}

interface Tests {
  readonly tests: readonly {
    readonly name: string;
    readonly promql_expr_test: readonly { readonly exp_samples?: readonly unknown[] }[];
  }[];
}

const { groups } = parse(text('examples/grafana/alerts.yml')) as Rules;
const rules = groups.flatMap((group) => group.rules);
const names = rules.map(({ alert }) => alert);
const METRICS = /\b(?:informer|controller_runtime|workqueue|leader_election|rest_client)_\w+/g;
/** The labels in matchers, groupings and templates. The scrape adds the first three. */
const LABELS = /(?:\{|, )(\w+)=|by \(([^)]*)\)|\$labels\.(\w+)/g;

test('each alert asks for metrics and labels of the library, and says what to do', async () => {
  const { instruments } = await scrapedProgram();
  for (const { alert, expr, labels, annotations } of rules) {
    const used = [...expr.matchAll(METRICS)].map(([name]) => name);
    expect(used, alert).not.toEqual([]);
    expect([...instruments.keys()], alert).toEqual(expect.arrayContaining(used));
    const known = new Set(['namespace', 'job', 'instance']);
    for (const name of used)
      for (const label of instruments.get(name)?.labels ?? []) known.add(label);
    const asked = [...`${expr} ${annotations.summary}`.matchAll(LABELS)].flatMap(
      ([, matched, grouped, shown]) => (matched ?? grouped ?? shown ?? '').split(', '),
    );
    expect([...known], alert).toEqual(expect.arrayContaining(asked));
    expect(['warning', 'critical'], alert).toContain(labels.severity);
    expect([annotations.summary, annotations.action], alert).toEqual([
      expect.stringMatching(/\.$/),
      expect.stringMatching(/\.$/),
    ]);
  }
});

test('each alert has a test of promtool, in which it fires and ends, and a row in the documentation', () => {
  const { tests } = parse(text('spec/grafana/alerts.test.yml')) as Tests;
  const [healthy, ...faults] = tests;
  expect(healthy?.promql_expr_test.every(({ exp_samples }) => exp_samples === undefined)).toBe(
    true,
  );
  expect(faults.map(({ name }) => name)).toEqual(names);
  for (const { name, promql_expr_test } of faults) {
    expect(
      promql_expr_test.map(({ exp_samples }) => exp_samples?.length),
      name,
    ).toEqual([undefined, 1, undefined]);
  }
  const rows = [...text('docs/operations/alerts.md').matchAll(/^\| `(\w+)` \|/gm)];
  expect(rows.map(([, name]) => name)).toEqual(names);
});
