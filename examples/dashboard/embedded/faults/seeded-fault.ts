/** A fault of a world. */
export interface SeededFault {
  /** What is wrong, where, and how it shows. For the person who runs the demo, not for the page. */
  readonly explanation: string;
  /** Lets the fault occur once more: another attempt, another restart. */
  again(): void;
}
