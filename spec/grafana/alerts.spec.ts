/** Tests that the alerts ask for what the library measures, say what to do, and have a test of promtool and a row in the documentation. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { scrapedProgram } from '../metrics/running-program.ts';

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

const root = fileURLToPath(new URL('../..', import.meta.url));
const text = (file: string) => readFileSync(`${root}${file}`, 'utf8');
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
