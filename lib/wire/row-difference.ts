/** The message about the rows of one query. */
import type { ShownRun } from '../query/view/shown.ts';
import type { CarriedError, CarriedStatus } from './carried-errors.ts';

/** The difference that brings the rows of one query up to date. */
export interface RowDifference {
  /** The rows that the reader has are dropped first. */
  readonly reset?: true;
  /** The ids of the rows that are gone. */
  readonly gone?: readonly string[];
  /** The changed and moved rows in ascending position, which is the one after the change. */
  readonly rows?: readonly (readonly [id: string, position: number, row: unknown])[];
  /** More parts of the difference follow, and none of it is shown before the last one. The other members are those of the last. */
  readonly more?: true;
  readonly total: number;
  readonly synced: boolean;
  /** Whether the rows are those of a former run of the informers, because the present one has no complete answer yet. */
  readonly stale?: true;
  /** Present if it has changed. */
  readonly status?: CarriedStatus;
  /** Absent while the run of the query has not ended. Another one may begin. */
  readonly run?: ShownRun;
  /** Why it has failed. */
  readonly error?: CarriedError;
}
