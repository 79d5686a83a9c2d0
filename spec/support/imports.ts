/** Which modules a file imports, read from its text. */

export function stripComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
}

/** The targets of all forms of import: from, side effect, dynamic, and `import('…')` types. */
export function importsOf(text: string): string[] {
  const found: string[] = [];
  const forms = [
    /\b(?:import|export)\b[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]/g,
    /\bimport\s*['"]([^'"]+)['"]/g,
    /\bimport\s*\(\s*['"]([^'"]+)['"]/g,
  ];
  const code = stripComments(text);
  for (const form of forms) for (const match of code.matchAll(form)) found.push(match[1] ?? '');
  return found;
}
