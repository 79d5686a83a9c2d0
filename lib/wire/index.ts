/** The rows of a stream as messages, for views on another machine, in a worker or in a window. */

export type { CarriedError, CarriedStatus } from './carried-errors.ts';
export { type FromWireOptions, fromWire } from './from-wire.ts';
export type { RowDifference } from './row-difference.ts';
export { type ToWireOptions, toWire, type WireMessage } from './to-wire.ts';
