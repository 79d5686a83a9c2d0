/** The figures as a table for a terminal or for Markdown. */
import { type Budget, isMet, type Outcome } from './outcome.ts';
import type { Timing } from './turns.ts';

function ms(value: number): string {
  return value.toFixed(value < 10 ? 3 : value < 1_000 ? 1 : 0);
}

export function budgetText({ title, limit, figure, unit, isLeast }: Budget): string {
  const shown =
    unit === 'ms' ? `${ms(figure)} ms` : `${figure.toFixed(figure < 10 ? 2 : 0)} ${unit}`;
  return `${isLeast === true ? '≥' : '≤'} ${limit} ${unit} ${title}: ${shown}`;
}

function verdict(budget: Budget): string {
  return isMet(budget) ? 'met' : 'missed';
}

/** Several lines for each question: the contestants, then the budgets. */
export function plainTable(outcomes: readonly Outcome[]): string {
  const lines: string[] = [];
  for (const { title, timings, budgets } of outcomes) {
    lines.push('', title);
    const width = Math.max(...timings.map(({ name }) => name.length));
    const [own] = timings;
    for (const { name, median, min, max, batches } of timings) {
      const ratio = own === undefined ? '' : `${(median / own.median).toFixed(2)} ×`;
      lines.push(
        `  ${name.padEnd(width)} ${ms(median).padStart(9)} ms ${ratio.padStart(10)}   ${ms(min)} … ${ms(max)} ms, ${batches} batches`,
      );
    }
    for (const budget of budgets) {
      lines.push(`  budget ${budgetText(budget)}, ${verdict(budget)}`);
    }
  }
  return `${lines.join('\n')}\n`;
}

export const MARKDOWN_HEAD =
  '| question | rx-informer, ms | beside it, ms | budget |\n|---|---|---|---|\n';

/** One row of a Markdown table for each question. */
export function markdownRows(outcomes: readonly Outcome[]): string {
  const cell = ({ name, median, min, max }: Timing) =>
    `${name} ${ms(median)} (${ms(min)} to ${ms(max)})`;
  const rows = outcomes.map(({ title, timings, budgets }) => {
    const [own, ...others] = timings;
    const figures = own === undefined ? '' : `${ms(own.median)} (${ms(own.min)} to ${ms(own.max)})`;
    const verdicts = budgets.map((budget) => `${budgetText(budget)}, **${verdict(budget)}**`);
    return `| ${title} | ${figures} | ${others.map(cell).join('<br>')} | ${verdicts.join('<br>')} |`;
  });
  return `${rows.join('\n')}\n`;
}
