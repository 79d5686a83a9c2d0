/** Reads what a connection sends. Whoever sends it may send anything. */
import { isFields } from '../../meta/json-fields.ts';
import type { FromTab } from '../../worker/messages.ts';

/** The first message of a connection, and of each sign-in: with the credentials. */
export type Hello = Extract<FromTab, { type: 'hello' }> & { readonly credentials?: unknown };

const isId = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;
const isText = (value: unknown) => typeof value === 'string';
const isOptionalText = (value: unknown) => value === undefined || isText(value);

type Test = (fields: Readonly<Record<string, unknown>>) => boolean;

/** What the messages of each type must have. */
const FORMS: Readonly<Record<string, Test>> = {
  hello: ({ protocol, identity, isHidden, position }) =>
    typeof protocol === 'number' &&
    [identity, position].every(isOptionalText) &&
    typeof isHidden === 'boolean',
  identity: ({ identity }) => isOptionalText(identity),
  hidden: ({ isHidden }) => typeof isHidden === 'boolean',
  bye: () => true,
  ping: () => true,
  open: ({ id, query }) => isId(id) && isFields(query),
  close: ({ id }) => isId(id),
  ack: ({ set }) => isId(set),
  edit: ({ id, edit }) => isId(id) && isFields(edit),
  'edit-abort': ({ id }) => isId(id),
  draft: ({ id }) => isId(id),
  credentials: ({ id, headers, error }) =>
    isId(id) &&
    (headers === undefined || isFields(headers)) &&
    (error === undefined || isFields(error)),
};

/** Whether a message has the form of one that a tab sends. */
export function isMessageOfTab(message: unknown): message is FromTab {
  if (!isFields(message) || typeof message['type'] !== 'string') return false;
  const { type } = message;
  return Object.hasOwn(FORMS, type) && FORMS[type]?.(message) === true;
}

/** The most characters of credentials, with what else a hello has. */
const MOST_OF_CREDENTIALS = 16_384;

/** Whether a message has credentials that are too long to be somebody's. */
export function isTooLarge(message: FromTab): boolean {
  if (message.type !== 'hello' && message.type !== 'credentials') return false;
  // A page without credentials sends an error instead, which may be nested too deep for `JSON.stringify`.
  const counted = message.type === 'hello' ? message : (message.headers ?? '');
  return JSON.stringify(counted).length > MOST_OF_CREDENTIALS;
}
