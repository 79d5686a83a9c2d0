/** Parses and validates the query of a LIST like kube-apiserver. */
import { badRequest, forbiddenOption, unsupportedOption } from './failures.ts';

const OPTIONS = 'ListOptions';

/** Parses an integer of 64 bits like kube-apiserver. Throws a 400 if the text is not one. */
export function integer(query: URLSearchParams, name: string): number {
  const text = query.get(name) ?? '0';
  const refused = (why: string) =>
    badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: ${why}`);
  if (!/^[+-]?[0-9]+$/.test(text)) throw refused('invalid syntax');
  const value = BigInt(text.replace('+', ''));
  if (value !== BigInt.asIntN(64, value)) throw refused('value out of range');
  return Number(value);
}

/** Whether a query parameter is true: it is present, and neither `0` nor `false`. */
export function isTrue(value: string | null): boolean {
  return value !== null && value !== '0' && value !== 'false';
}

/** Throws the error of kube-apiserver if the options are invalid or contradict each other. */
export function checkListOptions(query: URLSearchParams): void {
  const version = query.get('resourceVersion') ?? '';
  const match = query.get('resourceVersionMatch') ?? '';
  const field = 'resourceVersionMatch';
  integer(query, 'timeoutSeconds');
  if (query.has('sendInitialEvents')) {
    const name = 'sendInitialEvents';
    throw forbiddenOption(OPTIONS, name, 'sendInitialEvents is forbidden for list');
  }
  if (match !== '') {
    if (query.get('continue')) {
      throw forbiddenOption(OPTIONS, field, `${field} is forbidden when continue is provided`);
    }
    if (match !== 'Exact' && match !== 'NotOlderThan') {
      throw unsupportedOption(OPTIONS, field, match, ['Exact', 'NotOlderThan', '']);
    }
    if (version === '') {
      throw forbiddenOption(
        OPTIONS,
        field,
        `${field} is forbidden unless resourceVersion is provided`,
      );
    }
    if (match === 'Exact' && version === '0') {
      const message = `${field} "exact" is forbidden for resourceVersion "0"`;
      throw forbiddenOption(OPTIONS, field, message);
    }
  }
  if (!/^[0-9]*$/.test(version)) {
    const text = JSON.stringify(version);
    throw badRequest(
      `invalid resource version: resourceVersion: Invalid value: ${text}: strconv.ParseUint: parsing ${text}: invalid syntax`,
    );
  }
}
