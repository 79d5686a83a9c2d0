/** Reads the dashboard in examples/grafana. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface Panel {
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

export interface Dashboard {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly Variable[] };
}

export const dashboard: Dashboard = JSON.parse(
  readFileSync(
    fileURLToPath(new URL('../../examples/grafana/rx-informer.json', import.meta.url)),
    'utf8',
  ),
);

/** A query as Grafana sends it: with all values of its variables, and a rate interval of four scrapes. */
export function sent(expr: string, intervalSeconds: number): string {
  return expr.replaceAll('$__rate_interval', `${intervalSeconds}s`).replaceAll(/"\$\w+"/g, '".+"');
}
