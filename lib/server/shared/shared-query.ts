/** The queries with names of a shared factory, as a program gives them. */
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import type { Resource } from '../../meta/resource.ts';
import type { WorkerQueries } from '../../worker/carried-query.ts';

/** A query with a name that all users may ask. */
export interface SharedQuery {
  /**
   * The kinds that it reads, or a function that returns those of its parameters, which may be anything. A user who may not list and watch
   * one of them is answered Forbidden.
   */
  readonly reads: KindsRead | ((params: never) => KindsRead);
  /**
   * Makes the query of its parameters, which may be anything, so check them. What it reads by `live` is what the user may read. What it
   * reads otherwise is shown to all.
   */
  readonly ask: WorkerQueries[string];
  /** The namespaces that the query reads with these parameters. @defaultValue all that the user may read */
  readonly namespaces?: ((params: never) => readonly string[]) | undefined;
}

/** The kinds of a query, at least one. */
export type KindsRead = readonly Resource<KubernetesObject>[];

/** Queries by name. */
export type SharedQueriesByName = Readonly<Record<string, SharedQuery>>;
