/** How much of a name fits before its last characters. */

/** The width of the longest beginning that fits into a room before an ellipsis; `undefined` if the whole text fits. */
export function shortenedTo(
  start: string,
  room: number,
  measure: (text: string) => number,
): number | undefined {
  if (measure(start) <= room) return undefined;
  let [fits, tooLong] = [0, start.length];
  while (tooLong - fits > 1) {
    const middle = (fits + tooLong) >> 1;
    if (measure(`${start.slice(0, middle)}…`) <= room) fits = middle;
    else tooLong = middle;
  }
  return measure(`${start.slice(0, fits)}…`);
}
