/** The user of a connection, as the program that serves has verified it. */
import { check } from '../../checks/checked-option.ts';
import { isFields } from '../../meta/json-fields.ts';
import type { EpochMs } from '../../rx/timing.ts';
import { sortedJson } from '../../worker/server/answers.ts';

/** A user, with the names of a `TokenReview`. */
export interface ServedUser {
  readonly name: string;
  readonly uid?: string | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
  /** When the credentials end. New ones are asked for 30 seconds before. @defaultValue they do not end */
  readonly expiresMs?: EpochMs | undefined;
}

/** The first message of a connection. */
export interface SignIn {
  /** What the client has sent: what `credentials` of `connectServer` has returned, whatever it is. */
  readonly credentials: unknown;
  /** The name that the client gives its user. It says nothing about who that is. */
  readonly identity: string;
}

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');

/** The user that `signIn` has returned, or `undefined` for nobody. Throws a `TypeError` on anything else, also a name that is empty. */
export function checkedUser(given: unknown): ServedUser | undefined {
  if (given === undefined || given === null) return undefined;
  const must = (name: string, isRight: boolean, value: unknown, what: string) =>
    check(isRight, `serveUsers: signIn: ${name}`, value, what);
  must('the user', isFields(given), given, '{ name, uid, groups, extra }, or undefined for nobody');
  const { name, uid, groups, extra, expiresMs } = given as ServedUser;
  must('name', typeof name === 'string' && name !== '', name, 'text that is not empty');
  must('uid', uid === undefined || typeof uid === 'string', uid, 'text');
  must('groups', groups === undefined || isTexts(groups), groups, 'a list of texts');
  const isExtra = extra === undefined || (isFields(extra) && Object.values(extra).every(isTexts));
  must('extra', isExtra, extra, 'lists of texts');
  const isTime = expiresMs === undefined || (typeof expiresMs === 'number' && expiresMs > 0);
  must('expiresMs', isTime, expiresMs, 'a time in milliseconds since 1970');
  return { name, uid, groups: groups && [...groups], extra, expiresMs };
}

/** Differs for each token, and says nothing about rights. */
const CREDENTIAL = 'authentication.kubernetes.io/credential-id';

/** The text that is equal for one user, whatever the groups and extra, by which limits are counted. */
export const accountOf = ({ name, uid }: ServedUser): string => JSON.stringify([name, uid]);

/** The text that is equal for users with equal rights. */
export function keyOfUser({ name, uid, groups = [], extra = {} }: ServedUser): string {
  const sorted = Object.entries(extra)
    .filter(([key]) => key !== CREDENTIAL)
    .map(([key, values]) => [key, [...values].sort()]);
  return sortedJson([name, uid, [...groups].sort(), Object.fromEntries(sorted)]);
}
