/**
 * Sanitizes texts before they become part of an error. A server's text keeps no credentials and no control
 * characters, and has a maximum length. The message of a thrown error keeps no part of a parsed input, because that
 * may be a Secret.
 */

const LONGEST = 16_384;

/** A credential after its scheme: long, or with a digit, mixed letters or a sign within, unlike a word as in `Basic authentication`. */
const CREDENTIAL =
  /\b([Bb](?:earer|EARER|asic|ASIC)\s+)(?=[^\s"',;]{16}|[^\s"',;]*(?:\d|[a-z][A-Z]|[^\s"',;\w]\w))[^\s"',;]+/g;

/**
 * A JSON web token. The search begins only where a run of its characters begins, and looks for the dots first: otherwise each
 * `eyJ` in a long run would read the run to its end.
 */
const TOKEN = /(?<![\w-])(?=[\w-]+\.[\w-]+\.)([\w-]*?\b)eyJ[\w-]+\.[\w-]+\.[\w-]*/g;

/** The text of a server or proxy, safe for a log. A longer one than `longest` characters, 16,384 at most, is cut. */
export function shownText(text: string, longest: number = LONGEST): string {
  const most = Math.min(longest, LONGEST);
  const cut = text.length > most ? `${text.slice(0, most)}…` : text;
  return (
    cut
      // Some proxies quote the headers that they reject.
      .replace(CREDENTIAL, '$1…')
      .replace(TOKEN, '$1…')
      // A line break would forge a line of a log.
      .replace(/[\n\r\t\u2028\u2029]+/g, ' ')
      // A terminal executes control characters, and some characters reverse the rest of a line.
      .replace(/[\p{Cc}\p{Bidi_C}]/gu, '\ufffd')
  );
}

const UNSHOWN = 'not shown, because it quotes what was read';

function messageOf(error: Error): string {
  if (error instanceof SyntaxError) return `SyntaxError (${UNSHOWN})`;
  // Errors of a browser, such as QuotaExceededError, may have a name only.
  if (!(error instanceof TypeError)) return error.message || error.name;
  return error.message
    .replace(/ string '[\s\S]*'/, " string '…'")
    .replace(/('in' operator to search for )[\s\S]*/, '$1…');
}

/** The message of a thrown value, sanitized. */
export function shownError(error: unknown): string {
  if (error instanceof Error) return messageOf(error);
  try {
    return String(error);
  } catch {
    return 'something that cannot be shown';
  }
}

/** How many causes of causes are shown. The limit also ends a cycle. */
const MOST_CAUSES = 10;

/**
 * A thrown value, safe as the cause of another error. If its message, or that of one of its causes, had to be
 * sanitized, a new error with the same stack is returned.
 */
export function shownCause(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return error;
  if (depth > MOST_CAUSES) return undefined;
  const message = messageOf(error);
  const cause = shownCause(error.cause, depth + 1);
  if (message === error.message && cause === error.cause) return error;
  const shown = new Error(message, cause === undefined ? undefined : { cause });
  Object.setPrototypeOf(shown, Object.getPrototypeOf(error));
  const frames = error.stack?.indexOf('\n    at ') ?? -1;
  const trace = error.stack !== undefined && frames !== -1 ? error.stack.slice(frames) : '';
  shown.stack = `${error.name}: ${message}${trace}`;
  return shown;
}
