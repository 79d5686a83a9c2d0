/**
 * What of other people's words may stand in an error: of a server's no credentials, no control characters and no
 * megabytes; of a thrown error's no piece of what was parsed, because that may be a Secret.
 */

const LONGEST = 16_384;

/** A server's or proxy's words, fit for a log. */
export function shownText(text: string): string {
  const cut = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
  return (
    cut
      // Proxies complain about headers by quoting them.
      .replace(/\b(Bearer|Basic)(\s+)[^\s"',;]{16,}/gi, '$1$2…')
      .replace(/\beyJ[\w-]+\.[\w-]+\.[\w-]*/g, '…')
      // A terminal takes orders from control characters, and some turn the rest of a line around.
      .replace(/(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, '\ufffd')
  );
}

const UNSHOWN = 'not shown, because it quotes what was read';

function messageOf(error: Error): string {
  if (error instanceof SyntaxError) return `SyntaxError (${UNSHOWN})`;
  if (!(error instanceof TypeError)) return error.message;
  return error.message
    .replace(/ string '[\s\S]*'/, " string '…'")
    .replace(/('in' operator to search for )[\s\S]*/, '$1…');
}

/** What a thrown value says. */
export function shownError(error: unknown): string {
  if (error instanceof Error) return messageOf(error);
  try {
    return String(error);
  } catch {
    return 'something that cannot be shown';
  }
}

/** A thrown value that may be another error's cause: where its message had to be cut, one with the same stack. */
export function shownCause(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const message = messageOf(error);
  if (message === error.message) return error;
  const cause = error instanceof SyntaxError ? new SyntaxError(message) : new TypeError(message);
  const frames = error.stack?.indexOf('\n    at ') ?? -1;
  const told = error.stack !== undefined && frames !== -1 ? error.stack.slice(frames) : '';
  cause.stack = `${cause.name}: ${message}${told}`;
  return cause;
}
