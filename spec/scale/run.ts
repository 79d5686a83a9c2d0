/**
 * `npm run scale` simulates 10 to 100,000 clients, directly and over NATS, and prints requests, bytes and delays.
 *
 *   npm run scale -- [--measure] [--write] [--clients 10,100]
 *
 * `--measure` first measures the costs again, with a real kube-apiserver and a real nats-server (two minutes).
 * `--write` writes the tables to docs/operations/scaling.md and the curves to docs/images.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Measured } from './costs.ts';
import { CLIENTS, charts, measuredTable, simulate, tables } from './tables.ts';

const { values } = parseArgs({
  options: {
    measure: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    clients: { type: 'string', default: CLIENTS.join(',') },
  },
});
const costsFile = new URL('./measured.json', import.meta.url);
if (values.measure) {
  const { measure } = await import('./measure.ts');
  writeFileSync(costsFile, `${JSON.stringify(await measure(), null, 2)}\n`);
}
const costs = JSON.parse(readFileSync(costsFile, 'utf8')) as Measured;
const rows = values.clients.split(',').map((clients) => simulate(costs, Number(clients)));
console.log(`${measuredTable(costs)}\n\n${tables(rows)}`);
if (values.write) {
  const page = new URL('../../docs/operations/scaling.md', import.meta.url);
  let text = readFileSync(page, 'utf8');
  for (const [name, content] of [
    ['measured', measuredTable(costs)],
    ['simulated', tables(rows)],
  ] as const) {
    const from = text.indexOf(`<!-- ${name} -->`);
    const to = text.indexOf(`<!-- end of ${name} -->`);
    if (from === -1 || to === -1)
      throw new Error(`docs/operations/scaling.md has no place for ${name}`);
    text = `${text.slice(0, from)}<!-- ${name} -->\n\n${content}\n\n${text.slice(to)}`;
  }
  writeFileSync(page, text);
  for (const [name, svg] of Object.entries(charts(rows))) {
    writeFileSync(new URL(`../../docs/images/${name}`, import.meta.url), svg);
  }
}
