/** Query strings, in the order in which their parameters were given, so that requests compare as text. */

/** `?a=1&b=2`, or '' when there is nothing to say. */
export function queryString(query: Readonly<Record<string, string>> | undefined): string {
  if (query === undefined) return '';
  const text = new URLSearchParams(query).toString();
  return text === '' ? '' : `?${text}`;
}
