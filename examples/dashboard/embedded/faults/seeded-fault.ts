/** A fault of a world. */
export interface SeededFault {
  /** Names the mistake, its place and its signs, for the person who runs the demo, not for the page. */
  readonly explanation: string;
  /** Lets the fault occur once more: another attempt, another restart. */
  again(): void;
}
