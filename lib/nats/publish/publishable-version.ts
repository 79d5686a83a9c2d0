/** Refuses informers whose versions or changes a bucket cannot carry. */
import type { SharedInformer } from '../../informer/shared-informer.ts';
import { ApiError } from '../../meta/api-error.ts';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import { isResourceVersion } from '../../meta/resource-version.ts';

/** The version of an informer's store. Throws an `ApiError` if its store cannot be published. */
export function publishableVersion<T extends KubernetesObject>(
  { lastSyncResourceVersion: version, status: { scopes, shards } }: SharedInformer<T>,
  where: string,
): string {
  const refused = (why: string) =>
    new ApiError({ code: 400, reason: 'BadRequest', message: `${where}: ${why}` });
  if (scopes !== undefined) {
    throw refused(
      'the informer follows several namespaces one by one, so its versions have no order; publish an informer of all namespaces',
    );
  }
  if (shards !== undefined) {
    throw refused(
      'the informer holds some shards, and objects that leave with a shard would seem to be deleted; publish an informer of all objects',
    );
  }
  if (isResourceVersion(version)) return version;
  throw refused(
    `the informer is at version '${version}', which cannot be compared; only collections with versions can be published`,
  );
}
