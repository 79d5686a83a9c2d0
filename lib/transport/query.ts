/** Builds query strings. Parameters keep their order, so that requests can be compared as text. */

/** Returns `?a=1&b=2`, or '' without parameters. */
export function queryString(query: Readonly<Record<string, string>> | undefined): string {
  if (query === undefined) return '';
  const text = new URLSearchParams(query).toString();
  return text === '' ? '' : `?${text}`;
}
