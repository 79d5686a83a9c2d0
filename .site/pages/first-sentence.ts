/** The first sentence of a comment. */

/** The first sentence of a text as Markdown, with code in the place of links. */
export function firstSentence(text: string): string {
  const plain = text.replace(/\{@link (?:[^}|]*\|)?\s*([^}]*)\}/g, '`$1`').replace(/\s+/g, ' ');
  // A full stop within code ends no sentence.
  const masked = plain.replace(/`[^`]*`/g, (code) => '_'.repeat(code.length));
  const end = /[.:](?:\s|$)/.exec(masked);
  return (end === null ? plain : plain.slice(0, end.index + 1)).replace(/:$/, '.').trim();
}
