/** Finds what makes the verdict of a test depend on a clock or on the resources that a process uses, by the texts of files. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { importsOf, stripComments } from './imports.ts';

/** A line of a file and the clock that it names. */
export interface ClockUse {
  readonly line: string;
  readonly clock: string;
}

/** In a file with virtual time the scheduler's waits take no real time. */
const VIRTUAL =
  /virtual-time\.ts|createVirtualTime|useFakeTimers|TestScheduler|\bmarbles\b|\b(?:rig|world)\.pass\(|rx\/clock\.ts/;

const ALWAYS: readonly RegExp[] = [
  /\bperformance\.now\b(?! =)/,
  /\bDate\.now\b(?! =)/,
  /\bnew Date\(\)/,
  /\bhrtime\b/,
  /\b(?:c|threadC)puUsage\b/,
  /\bresourceUsage\b/,
  /\bmemoryUsage\b/,
  /\bheapUsed\b/,
  /\bmonitorEventLoopDelay\b/,
  /\bUSUAL_MS\b/,
  // Neither the name of a function that is replaced nor its replacement.
  /(?<!')\bset(?:Timeout|Interval)\b(?!:)/,
  /\bnode:timers\b/,
  /\bAbortSignal\.timeout\b/,
  /\bAtomics\.wait\(/,
  /\bexpect\.poll\b/,
  /\.poll\(/,
  /\bvi\.waitFor\b/,
  /\bvi\.waitUntil\b/,
  /\bwaitForTimeout\b/,
  /(?<![\w.])sleep\(/,
  // The limit of a process, a test or a wait of a browser.
  /\btimeout: (?!HANG_MS\b|TEST_HANG_MS\b)/,
  /\b(?:testTimeout|hookTimeout): (?!TEST_HANG_MS\b)/,
  // The limit of a test as its last argument, if it is shorter than TEST_HANG_MS.
  /^ {0,4}\}, (?:\d\d_?\d{3}|[12]\d\d_?\d{3}|3[0-5]\d_?\d{3})\);$/,
];

/** These take no time of the machine when they have a scheduler, or stand beside virtual time. */
const WITHOUT_SCHEDULER: readonly RegExp[] = [
  /(?<![\w.$])(?:timer|interval|delay|timeout|debounceTime|throttleTime|auditTime|sampleTime|bufferTime)\([^,()]*\)/,
  // Fewer than 60,000 milliseconds.
  /\btimeoutMs(?::|\s*=)\s*(?:[1-9]\d{0,3}|[1-5]?\d_\d{3}|[1-5]\d{4})\b/,
];

/** The lines of a file that use a clock of the machine. */
export function clocksIn(text: string): ClockUse[] {
  const forms = VIRTUAL.test(text) ? ALWAYS : [...ALWAYS, ...WITHOUT_SCHEDULER];
  return stripComments(text)
    .split('\n')
    .flatMap((line) => {
      const clock = forms.map((form) => form.exec(line)?.[0]).find((each) => each !== undefined);
      return clock === undefined ? [] : [{ line: line.trim(), clock }];
    });
}

/** What the gate does not run: its npm scripts leave these out. */
const NOT_IN_THE_GATE = /^spec\/(?:packed\/(?:init-|next|jest)|site\/|runtimes\/)/;
const SPECS = 'spec/**/*.{spec,packed,browser,nats,oracle,e2e,contract}.{ts,tsx}';
/** The module that waits, this one, and its test. */
const THESE = ['spec/support/patience.ts', 'spec/support/clocks.ts', 'spec/architecture.spec.ts'];

/** The specs of the gate and all files of `spec` that they import. */
function filesOfTheGate(root: string): ReadonlySet<string> {
  const specs = globSync(SPECS, { cwd: root }).filter(
    (file) => !NOT_IN_THE_GATE.test(file) && !/node_modules|generated-examples/.test(file),
  );
  const files = new Set(specs);
  for (const file of files) {
    for (const target of importsOf(readFileSync(join(root, file), 'utf8'))) {
      const path = normalize(join(dirname(file), target));
      if (target.startsWith('.') && path.startsWith('spec/') && /\.tsx?$/.test(path)) {
        // A text of a test may contain an import.
        if (existsSync(join(root, path))) files.add(path);
      }
    }
  }
  return files;
}

/** The clocks of the gate: `file: clock`, each once. */
export function clocksOfTheGate(root: string): readonly string[] {
  const found = [...filesOfTheGate(root)].flatMap((file) =>
    THESE.includes(file)
      ? []
      : clocksIn(readFileSync(join(root, file), 'utf8')).map(({ clock }) => `${file}: ${clock}`),
  );
  return [...new Set(found)].sort();
}
