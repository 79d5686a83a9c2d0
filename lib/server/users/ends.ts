/** Why a connection ends: codes of WebSockets, and reasons that a client may show, of at most 123 bytes. */
import type { UserPort } from '../socket-port.ts';

const ENDS = {
  malformed: [4400, 'the server does not know a message of this page; load the page again'],
  nobody: [4401, 'the credentials are of nobody'],
  foreign: [
    4403,
    'the server does not serve this Host or Origin; see hosts and origins of serveUsers',
  ],
  late: [4408, 'no sign-in within 10 seconds'],
  silent: [4408, 'the page has acknowledged nothing for 12 seconds, hidden for 2 minutes'],
  large: [4413, 'a message with credentials has over 16384 characters; send shorter ones'],
  full: [4429, 'the server has its most connections (limits.connections)'],
  signingIn: [
    4429,
    'too many connections sign in (limits.signingIn, of one address signingInOfAddress)',
  ],
  many: [4429, 'this user has its most connections (limits.connectionsOfUser); close other pages'],
  flood: [4429, 'this page has sent too many messages (limits.messagesPerSecond)'],
  floodOfUser: [
    4429,
    'the pages of this user have sent too many messages (limits.messagesPerSecondOfUser)',
  ],
  bytes: [
    4429,
    'the pages of this user have carried too many characters (limits.charactersPerMinuteOfUser)',
  ],
  unread: [4429, 'this page does not read its messages: 16 MB wait'],
  failed: [4500, 'the informers of the user could not be made; the server has the error'],
  unverified: [4503, 'the user could not be verified; signIn has failed in the server'],
  changed: [1012, 'the rights of the user have changed'],
  drained: [1012, 'the server restarts'],
  left: [1000, ''],
} as const;

export type EndReason = keyof typeof ENDS;

/** Ends a port for a reason. */
export function endPort(port: UserPort, reason: EndReason): void {
  const [code, text] = ENDS[reason];
  try {
    if (port.end !== undefined) port.end(code, text);
    else port.close();
  } catch {
    // The other side is gone, as a window of Electron. Other connections are ended in the same task.
  }
}
