/** Tests that the queries of the Grafana dashboard ask for what the library measures. */
import { expect, test } from 'vitest';
import { scrapedProgram } from '../metrics/running-program.ts';
import { dashboard } from './dashboard.ts';
import { PromQl } from './promql.ts';

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
