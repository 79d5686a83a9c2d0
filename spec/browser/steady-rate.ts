/** Makes changes at a steady rate, for tests of pages under load. */

/** Calls `make` so many times a second, with the number of calls before, until the returned function is called. */
export function atRate(perSecond: number, make: (made: number) => void): () => void {
  const began = performance.now();
  let made = 0;
  const timer = setInterval(() => {
    const due = ((performance.now() - began) / 1_000) * perSecond;
    for (; made < due; made++) make(made);
  }, 10);
  return () => clearInterval(timer);
}
