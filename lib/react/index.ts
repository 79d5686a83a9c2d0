'use client';

/** React hooks over live queries, views and informers. */

export { type EditResult, type UseEditOptions, useEdit } from './edit/use-edit.ts';
export type { ProvidedFactoryOptions } from './provided.ts';
export { InformerProvider, type InformerProviderProps } from './provider.ts';
export type { ListResult, StatusResult } from './row-result.ts';
export { useSuspenseList, useSuspenseQuery } from './suspense/use-suspense.ts';
export { type ObjectScope, useInformer } from './use-informer.ts';
export { type ListOptionsOf, type MetadataListOptions, useList } from './use-list.ts';
export { type ObjectRef, type ObjectResult, useObject } from './use-object.ts';
export { useQuery } from './use-query.ts';
export { type StatusOf, useQueryStatus, useStatus } from './use-status.ts';
export { useView } from './use-view.ts';
