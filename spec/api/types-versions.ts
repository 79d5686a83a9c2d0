/**
 * Writes `typesVersions` of package.json from `exports`. TypeScript reads it in place of `exports` under `moduleResolution: node10`, which
 * TypeScript 5.9 has by default in projects of CommonJS modules.
 */

interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly types: string }>>;
}

/** Returns the text of a package.json with the `typesVersions` that its `exports` need. */
export function withTypesVersions(text: string): string {
  const { exports } = JSON.parse(text) as Manifest;
  const lines = Object.entries(exports).flatMap(([entry, target]) =>
    // Without a path, TypeScript finds the declarations beside `main`.
    typeof target === 'string' || entry === '.'
      ? []
      : [`      "${entry.slice(2)}": [\n        "${target.types}"\n      ]`],
  );
  const block = `  "typesVersions": {\n    "*": {\n${lines.join(',\n')}\n    }\n  },\n`;
  const known = /^ {2}"typesVersions": \{\n[\s\S]*?^ {2}\},\n/m;
  return known.test(text)
    ? text.replace(known, () => block)
    : text.replace(/^ {2}"scripts"/m, (scripts) => block + scripts);
}
