/** Suggests similar names for an unknown name. */

/** The edit distance: how many letters must be inserted, removed, replaced or swapped. */
function distance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, index) => index)];
  for (let i = 1; i <= a.length; i++) {
    const above = rows[i - 1] as number[];
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const differs = a[i - 1] === b[j - 1] ? 0 : 1;
      const best = [(above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (above[j - 1] ?? 0) + differs];
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) best.push((rows[i - 2]?.[j - 2] ?? 0) + 1);
      row.push(Math.min(...best));
    }
    rows.push(row);
  }
  return rows[a.length]?.[b.length] ?? 0;
}

/** Returns the most similar names first, three at most. Upper and lower case are the same. */
export function similarNames(name: string, known: Iterable<string>): string[] {
  const wanted = name.toLowerCase();
  const allowed = Math.min(3, Math.max(1, Math.floor(wanted.length / 4)));
  return [...new Set(known)]
    .map((each) => ({ each, far: distance(wanted, each.toLowerCase()) }))
    .filter(({ far }) => far <= allowed)
    .sort((a, b) => a.far - b.far)
    .slice(0, 3)
    .map(({ each }) => each);
}
