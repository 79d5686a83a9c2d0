/** A row with its place, and the short runs that an order is made of. */
import type { Stored } from '../../meta/kubernetes-object.ts';

/** One state of a row. Another state is another object, so an order that was given out keeps what it had. */
export class SortedRow<T> {
  readonly id: string;
  readonly key: string;
  readonly object: Stored<T>;
  /** The run that the row is placed in. */
  run: RowRun<T> | undefined;

  constructor(id: string, key: string, object: Stored<T>) {
    this.id = id;
    this.key = key;
    this.object = object;
    this.run = undefined;
  }
}

/** Two lists of one length. A list that was given out with an order is copied before it changes. */
export class RowRun<T> {
  rows: SortedRow<T>[];
  /** The objects of the rows, because lists of them are joined faster than they are built. */
  objects: Stored<T>[];
  /** When the lists were copied; they may be changed while no order was given out since. */
  copiedAt: number;

  constructor(rows: SortedRow<T>[], objects: Stored<T>[], copiedAt: number) {
    this.rows = rows;
    this.objects = objects;
    this.copiedAt = copiedAt;
  }
}

/** The lists of a run as an order has them. */
export type GivenRun<T> = Readonly<Pick<RowRun<T>, 'rows' | 'objects'>>;
