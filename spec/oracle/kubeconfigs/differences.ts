/** The differences between our client and client-go that are intended. Each has a reason, and each must occur. */
import { isIP } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import type { KubeconfigCase } from './generated-kubeconfig.ts';
import type { KubeconfigOutcome } from './our-outcome.ts';

/** A kubeconfig with both outcomes. */
export interface ComparedKubeconfig {
  readonly given: KubeconfigCase;
  readonly ours: KubeconfigOutcome;
  readonly theirs: KubeconfigOutcome;
}

interface KubeconfigDifference {
  readonly name: string;
  readonly reason: string;
  /** Whether this difference, and nothing else, explains the outcomes. */
  explains(compared: ComparedKubeconfig): boolean;
}

/** The single errors in a message of client-go, which joins them. */
const errorsOf = (message: string) =>
  message
    .replace(/^invalid configuration: /, '')
    .replace(/^\[|\]$/g, '')
    .split(/, (?=[a-z-]+ (?:are|is|to) |unable )/);

/** Ours sends a request, and client-go refuses the kubeconfig for no other reason than this one. */
const weAccept = ({ ours, theirs }: ComparedKubeconfig, error: RegExp) =>
  ours.received !== undefined &&
  theirs.refused !== undefined &&
  errorsOf(theirs.refused).every((each) => error.test(each));

/** Ours refuses a kubeconfig with this message, and client-go sends a request. */
const weRefuse = ({ ours, theirs }: ComparedKubeconfig, message: RegExp) =>
  theirs.received !== undefined && message.test(ours.refused ?? '');

const has = ({ given }: ComparedKubeconfig, oddity: string) => given.oddities.includes(oddity);

const FILES_TWICE = /are both specified for/;

export const DIFFERENCES: readonly KubeconfigDifference[] = [
  {
    name: 'a user that does not exist',
    reason: 'client-go sends the requests anonymously. Ours names the users that exist.',
    explains: (each) => weRefuse(each, /^clientFromKubeConfig: context '.*' names user '/),
  },
  {
    name: 'a file and inline data',
    reason:
      'client-go says that the data override the file, and refuses both together. Ours uses the data, as client-node and the type of kubectl document it.',
    explains: (each) =>
      weAccept(each, /are both specified for|^unable to read/) &&
      FILES_TWICE.test(each.theirs.refused ?? ''),
  },
  {
    name: 'files that are not needed over http',
    reason:
      'client-go opens the files of client certificates that it does not send over http. Ours does not need them.',
    explains: (each) =>
      each.ours.received?.isSecure === false &&
      weAccept(each, /are both specified for|^unable to read/),
  },
  {
    name: 'two kinds of credentials over http',
    reason:
      'client-go does not look at tokenFile beside username if it sends neither. Ours says so, because the kubeconfig fails with https.',
    explains: (each) =>
      each.theirs.received?.isSecure === false &&
      weRefuse(each, /more than one kind of credentials: tokenFile, username/),
  },
  {
    name: 'a token that ends with a line break',
    reason:
      'client-go cannot send it. Ours removes the white space, which no token has, as both do with the token of a file.',
    explains: ({ ours, theirs }) =>
      ours.received !== undefined &&
      /invalid header field value for "Authorization"/.test(theirs.failed ?? ''),
  },
  {
    name: 'two documents in one file',
    reason:
      'client-go reads the first document. Ours refuses the file, because the others would be ignored.',
    explains: (each) => has(each, 'two documents') && weRefuse(each, /the YAML cannot be parsed/),
  },
  {
    name: 'a key twice',
    reason:
      'client-go takes the last value. Ours refuses the file, because YAML forbids the second key.',
    explains: (each) => has(each, 'a key twice') && weRefuse(each, /the YAML cannot be parsed/),
  },
  {
    name: 'a word of YAML 1.1',
    reason:
      "client-go reads 'yes' as true and 12:30 as a number. To ours they are strings, as in YAML 1.2, which are refused by the name of their field if it must be true or false.",
    explains: (each) =>
      has(each, 'words of YAML 1.1') &&
      (weRefuse(each, /must be (true or false|a string)/) ||
        weAccept(each, /cannot unmarshal (number|bool) into Go struct field/)),
  },
  {
    name: 'a control character or a tab in YAML',
    reason:
      'client-go refuses the file. Ours reads U+007F, which is valid in JSON, a tab before JSON, and a line of white space.',
    explains: (each) =>
      weAccept(
        each,
        /control characters are not allowed|cannot start any token|tab character that violates indentation/,
      ),
  },
  {
    name: 'an IP address as tls-server-name',
    reason:
      'Go verifies it and sends no server name, which must not be an address. Node sends it, and a server ignores it.',
    explains: ({ ours: { received: own }, theirs: { received: other } }) =>
      isIP(own?.serverName || '') > 0 &&
      isDeepStrictEqual({ ...own, serverName: false }, { ...other, serverName: false }),
  },
  {
    name: 'upper case in an address',
    reason: 'Go sends the host as it is written. Ours sends it in lower case, as the WHATWG does.',
    explains: ({ ours: { received: own }, theirs: { received: other } }) =>
      own !== undefined &&
      own.authority === other?.authority.toLowerCase() &&
      own.authority !== other.authority &&
      isDeepStrictEqual(
        JSON.stringify(own),
        JSON.stringify(other).replaceAll('LOCALHOST', 'localhost'),
      ),
  },
  {
    name: 'an address without a scheme',
    reason: 'client-go adds http:// and sends no credentials. Ours asks for the scheme.',
    explains: (each) => weRefuse(each, /^createClient: baseUrl is .*; it must be/),
  },
  {
    name: 'an address with a query, a fragment or a password',
    reason:
      'client-go drops the query, and sends the password as a header. Ours refuses them (T11).',
    explains: (each) =>
      weRefuse(
        each,
        /^createClient: baseUrl (has a query or a fragment|contains a user or password)/,
      ),
  },
];
