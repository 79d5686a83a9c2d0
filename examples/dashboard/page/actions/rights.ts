/** Asks the API server which rights the user has. */
import type { KubeClient } from 'rx-informer';
import type { SelfSubjectAccessReview } from 'rx-informer/resources';
import { fullName, type Right } from './action.ts';

const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';

/** Where a right is needed: a namespace, or '' for an object in none; and an object, if it is one. */
export interface Place {
  readonly namespace: string;
  readonly name?: string;
}

/** A right in words: `patch deployments.apps/scale in shop`. */
export function rightWords({ verb, group, resource, subresource }: Right, of: Place): string {
  const what = fullName({ group, plural: resource });
  const where = of.namespace === '' ? '' : ` in ${of.namespace}`;
  return `${verb} ${what}${subresource === undefined ? '' : `/${subresource}`}${where}`;
}

/** The places in which the user lacks a right. If the server does not answer, it decides about the action itself. */
export async function lackingIn(
  client: KubeClient,
  right: Right,
  places: readonly Place[],
  signal?: AbortSignal,
): Promise<readonly Place[]> {
  const isLacking = async ({ namespace, name }: Place) => {
    // An object that does not exist yet has no name for the review.
    const named = name === undefined || right.verb === 'create' ? {} : { name };
    const resourceAttributes = { ...right, ...named, ...(namespace && { namespace }) };
    const review = await client.request<SelfSubjectAccessReview>({
      ...{ method: 'POST', path: REVIEWS, body: { spec: { resourceAttributes } } },
      ...(signal === undefined ? {} : { signal }),
    });
    return review.status?.allowed === false;
  };
  const lacks = await Promise.all(places.map((place) => isLacking(place).catch(() => false)));
  return places.filter((_place, at) => lacks[at]);
}
