/** What a subject of the comparison is, and how two outcomes are compared. */
import { isDeepStrictEqual } from 'node:util';
import type { Dice } from '../dice.ts';

/** The outcome of one case: refused, or what the text was taken for. */
export type Outcome =
  | { readonly refused: string }
  | { readonly refused?: undefined; readonly value: unknown };

/** A case with the outcomes of both. */
export interface Compared<Case = unknown> {
  readonly given: Case;
  readonly ours: Outcome;
  readonly theirs: Outcome;
}

/** A difference that is intended, with its reason. */
export interface Difference<Case = unknown> {
  readonly name: string;
  readonly reason: string;
  /** Whether this difference, and nothing else, explains the outcomes. */
  explains(compared: Compared<Case>): boolean;
}

/** Texts that both sides are asked about. */
export interface Subject<Case, Answer> {
  /** The name, as the Go program knows it. */
  readonly name: string;
  readonly caseOf: (dice: Dice) => Case;
  /** Our outcome, and what the Go program needs of it. */
  readonly ours: (given: Case) => Outcome;
  readonly question?: (given: Case, ours: Outcome) => unknown;
  readonly theirs: (answer: Answer, given: Case) => Outcome;
  /** Answers within a value that must not nearly all be equal, such as the matches of a selector. */
  readonly balance?: (value: unknown) => readonly boolean[];
  /** Whether also the words of a refusal must be equal. */
  readonly sameReasons?: boolean;
  readonly differences: readonly Difference<Case>[];
}

/** Runs a function. Only a `TypeError` with a message of ours is a refusal; any other error is a fault. */
export function outcomeOf(messages: RegExp, run: () => unknown): Outcome {
  try {
    return { value: run() };
  } catch (error) {
    if (error instanceof TypeError && messages.test(error.message)) {
      return { refused: error.message };
    }
    throw error;
  }
}

/** Whether both refuse, or both have the same value. */
export function agree({ ours, theirs }: Compared, sameReasons = false): boolean {
  if (ours.refused === undefined || theirs.refused === undefined) {
    return isDeepStrictEqual(ours, theirs);
  }
  return !sameReasons || ours.refused === theirs.refused;
}
