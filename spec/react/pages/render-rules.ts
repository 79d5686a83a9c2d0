/** What holds in every single render, also while an answer is on its way. */
import type { Kind, Shown } from './components.ts';
import { comparisonOf, factsOf, isInScope, RESOURCES } from './questions.ts';

/** Returns what is wrong with a render. `last` is the one before. */
export function checkRender(
  kind: Kind,
  shown: Shown,
  last: Shown | undefined,
  cluster: string,
): readonly string[] {
  const { rows: result, question } = shown;
  if (result === undefined) {
    const isSame = last?.question.of === question.of && last.env === shown.env;
    return isSame && last.edit?.edit !== shown.edit?.edit ? ['another function edit'] : [];
  }
  const wrong: string[] = [];
  const { rows, total, stale } = result;
  const facts = rows.map(factsOf);
  const { plural } = RESOURCES[question.of] as (typeof RESOURCES)[0];
  const mayBeOther = kind === 'view' && stale;
  if (total < rows.length) wrong.push(`total ${total} of ${rows.length} rows`);
  if (new Set(facts.map(({ uid }) => uid)).size !== facts.length) wrong.push('a row twice');
  for (const row of facts) {
    const { columns, as, name, namespace } = row;
    const what = `${namespace}/${name}, stale ${stale}`;
    if (row.cluster !== cluster) wrong.push(`a row of the cluster ${row.cluster}: ${what}`);
    if (mayBeOther) continue;
    if (row.of !== plural) wrong.push(`a row of ${row.of}: ${what}`);
    if (columns !== question.columns) wrong.push(`a row of the columns ${columns}: ${what}`);
    if (columns === 'all' && as !== question.as) wrong.push(`a row as ${as}: ${what}`);
    if (!stale && !isInScope(question, row)) wrong.push(`a row of another scope: ${what}`);
    const isMet = question.as === undefined ? row.flag : row.app;
    const isWanted = question.as === undefined ? '1' : 'q';
    if (!stale && question.where && isMet !== undefined && isMet !== isWanted) {
      wrong.push(`a row that is not selected: ${what}`);
    }
  }
  if (stale) return wrong;
  const { limit = Number.POSITIVE_INFINITY } = question;
  if (rows.length > limit) wrong.push(`${rows.length} rows, limit ${limit}`);
  const compare =
    question.columns === 'names' && question.order === 'value' ? undefined : comparisonOf(question);
  if (compare !== undefined) {
    facts.forEach((row, at) => {
      const next = facts[at + 1];
      if (next !== undefined && compare(row, next) > 0)
        wrong.push(`rows out of order: ${row.name}`);
    });
  }
  return [...wrong, ...unequal(shown, last)];
}

/** Rows that are other objects than before although nothing in them has changed. */
function unequal(shown: Shown, last: Shown | undefined): readonly string[] {
  if (last?.question !== shown.question || last.env !== shown.env) return [];
  if (last.rows?.synced !== true) return [];
  const known = new Map(last.rows?.rows.map((row) => [JSON.stringify(row), row]));
  return (shown.rows?.rows ?? []).flatMap((row) => {
    const text = JSON.stringify(row);
    const before = known.get(text);
    // The draft of an edit is made again for each further edit of its object.
    const isDraft = text.includes('"v":"e');
    return before === undefined || before === row || isDraft
      ? []
      : [`an unchanged row is another object: ${text}`];
  });
}
