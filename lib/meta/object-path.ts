/** Paths into objects as text: `status.phase`, `metadata.labels["app.kubernetes.io/name"]`. */

/** The names along a path. */
export type Steps = readonly string[];

const NAME = /^[^.[\]"\s]+/;
const QUOTED = /^\["((?:[^"\\]|\\.)*)"\]/;

/** The names along a path; `undefined` if the text is not a path. */
export function parsePath(text: string): Steps | undefined {
  const steps: string[] = [];
  let rest = text;
  while (rest !== '') {
    const quoted = QUOTED.exec(rest);
    if (quoted === null && steps.length > 0) {
      if (!rest.startsWith('.')) return undefined;
      rest = rest.slice(1);
    }
    const found = quoted ?? NAME.exec(rest);
    if (found === null) return undefined;
    const step = quoted === null ? found[0] : unquoted(quoted[1] as string);
    if (step === undefined) return undefined;
    steps.push(step);
    rest = rest.slice(found[0].length);
  }
  return steps.length === 0 ? undefined : steps;
}

function unquoted(text: string): string | undefined {
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    return undefined;
  }
}

/** The one text of a path. */
export function formatPath(steps: Steps): string {
  return steps
    .map((step, at) => {
      if (NAME.exec(step)?.[0] !== step) return `[${JSON.stringify(step)}]`;
      return at === 0 ? step : `.${step}`;
    })
    .join('');
}
