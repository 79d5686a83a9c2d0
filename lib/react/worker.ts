'use client';

/** React hooks over the queries of a worker. They contain no client, no informer and no live operator. */

export type { EditResult, UseEditOptions } from './edit/use-edit.ts';
export { useEdit, useList, useObject, useQuery, useQueryStatus } from './in-worker/hooks.ts';
export { useSuspenseList, useSuspenseQuery } from './in-worker/suspense.ts';
export {
  type AskedQuery,
  WorkerProvider,
  type WorkerProviderProps,
} from './in-worker/worker-provider.ts';
export type { ListResult, StatusResult } from './row-result.ts';
export type { ObjectRef, ObjectResult } from './use-object.ts';
export { type StatusOf, useStatus } from './use-status.ts';
export { useView } from './use-view.ts';
