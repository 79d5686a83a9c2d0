/** Which objects may own which, which owners a change of an owned object queues, and which changes the sources of a controller receive. */
import {
  controllerOf,
  isControlledBy,
  type KubernetesObject,
  type ObjectMeta,
  ownerReferenceOf,
  type Stored,
  setControllerReference,
} from 'rx-informer';
import { deployments, namespaces } from 'rx-informer/resources';
import { describe, expect, it } from 'vitest';
import { controllerKeys } from '../../lib/controller/owner-references.ts';
import { objectChange } from '../../lib/controller/predicates.ts';

const web = { metadata: { namespace: 'shop', name: 'web', uid: 'u1' } };
const child = (metadata: ObjectMeta = {}): Stored<KubernetesObject> => ({
  kind: 'ReplicaSet',
  metadata: { namespace: 'shop', name: 'web-1', uid: 'c1', resourceVersion: '5', ...metadata },
});

describe('owner references', () => {
  it('N11: name the owner as it was read from the server, with its UID', () => {
    expect(ownerReferenceOf(web, deployments)).toEqual({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      name: 'web',
      uid: 'u1',
      controller: true,
      blockOwnerDeletion: true,
    });
    const plain = { controller: false, blockOwnerDeletion: false };
    expect(Object.keys(ownerReferenceOf(web, deployments, plain))).toEqual([
      ...['apiVersion', 'kind', 'name', 'uid'],
    ]);
    const young = { metadata: { namespace: 'shop', name: 'web' } };
    expect(() => ownerReferenceOf(young, deployments)).toThrow(
      /deployments.apps shop\/web.*no UID/,
    );
  });

  it('N11: allow one controller; setting the same controller again changes nothing', () => {
    const frozen = Object.freeze(child());
    const owned = setControllerReference(web, frozen, deployments);
    expect(frozen.metadata?.ownerReferences).toBeUndefined();
    expect(controllerOf(owned)?.uid).toBe('u1');
    expect(setControllerReference(web, owned, deployments)).toBe(owned);
    const other = { metadata: { namespace: 'shop', name: 'api', uid: 'u2' } };
    expect(() => setControllerReference(other, owned, deployments)).toThrow(
      /controlled by Deployment web \(UID u1\)/,
    );
    // An owner of the same name with another UID is another owner.
    const recreated = { metadata: { ...web.metadata, uid: 'u9' } };
    expect(() => setControllerReference(recreated, owned, deployments)).toThrow(
      /second controller/,
    );
    expect([isControlledBy(owned, web), isControlledBy(owned, recreated)]).toEqual([true, false]);
  });

  it('N11: keep other owners, and make an owner the controller that was not', () => {
    const plain = ownerReferenceOf(web, deployments, { controller: false });
    const other = ownerReferenceOf(
      { metadata: { namespace: 'shop', name: 'x', uid: 'x' } },
      deployments,
      { controller: false },
    );
    const owned = setControllerReference(
      web,
      child({ ownerReferences: [plain, other] }),
      deployments,
    );
    expect(
      owned.metadata?.ownerReferences?.map(({ uid, controller }) => [uid, controller]),
    ).toEqual([
      ['u1', true],
      ['x', undefined],
    ]);
  });

  it('N11: an owner in a namespace owns nothing outside of it; a cluster-scoped owner owns any object', () => {
    expect(() => setControllerReference(web, child({ namespace: 'bank' }), deployments)).toThrow(
      /cannot own ReplicaSet bank\/web-1: the object is in another namespace/,
    );
    const global = { kind: 'ClusterRole', metadata: { name: 'reader' } };
    expect(() => setControllerReference(web, global, deployments)).toThrow(/no namespace/);
    const shop = { metadata: { name: 'shop', uid: 'n1' } };
    expect(controllerOf(setControllerReference(shop, global, namespaces))?.uid).toBe('n1');
    expect(controllerOf(setControllerReference(shop, child(), namespaces))?.uid).toBe('n1');
  });
});

describe('the controlling owners that a change queues', () => {
  const deployment = (name: string, uid: string) => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: 'shop', name, uid },
  });
  const cache = new Map<string, KubernetesObject>([
    ['shop/web', deployment('web', 'u1')],
    ['shop/api', deployment('api', 'u2')],
    ['reader', { apiVersion: 'x.dev/v2', kind: 'Role', metadata: { name: 'reader', uid: 'r' } }],
  ]);
  const owners = { getByKey: (key: string) => cache.get(key) };
  const ownedBy = (name: string, uid: string, more: object = {}) =>
    child({
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'Deployment', name, uid, controller: true, ...more },
      ],
    });
  const keys = (
    previous: Stored<KubernetesObject> | undefined,
    object: Stored<KubernetesObject> | undefined,
  ) =>
    controllerKeys(
      {
        type: 'updated',
        cause: 'watch',
        key: 'shop/web-1',
        ...(previous && { previous }),
        ...(object && { object }),
      },
      owners,
    );

  it('N4: are the owner before and the owner after the change', () => {
    expect(keys(ownedBy('web', 'u1'), ownedBy('api', 'u2'))).toEqual(['shop/web', 'shop/api']);
    expect(keys(ownedBy('web', 'u1'), ownedBy('web', 'u1'))).toEqual(['shop/web']);
    expect(keys(ownedBy('web', 'u1'), child())).toEqual(['shop/web']);
  });

  it('N4: exclude owners that are not controllers, have another kind, or are not in the cache', () => {
    expect(keys(undefined, ownedBy('web', 'u1', { controller: false }))).toEqual([]);
    expect(keys(undefined, ownedBy('web', 'z', { kind: 'StatefulSet' }))).toEqual([]);
    expect(keys(undefined, ownedBy('web', 'z', { apiVersion: 'apps.dev/v1' }))).toEqual([]);
    expect(keys(undefined, ownedBy('gone', 'u5'))).toEqual([]);
  });

  it('N4: include an owner that was created again under the same name, and a cluster-scoped one of any version', () => {
    expect(keys(undefined, ownedBy('web', 'old'))).toEqual(['shop/web']);
    const role = { apiVersion: 'x.dev/v1', kind: 'Role' };
    expect(keys(undefined, ownedBy('reader', 'old', role))).toEqual(['reader']);
  });
});

const stored = (uid: string): Stored<KubernetesObject> => ({
  metadata: { namespace: 'a', name: 'b', uid, resourceVersion: '1' },
});

describe('objectChange', () => {
  it('H56: an object that has left is no change, but one whose deletion shows when its successor arrives is deleted', () => {
    const set = { cause: 'rebalance', initial: false } as const;
    const gone = { id: 'u', key: 'a/b', previous: stored('u'), last: stored('u') };
    expect(objectChange(set, { ...gone, left: true })).toBeUndefined();
    // So the owner of the deleted object is queued, which its successor may not have.
    expect(objectChange(set, { ...gone, finalStateUnknown: true })).toMatchObject({
      ...{ type: 'deleted', key: 'a/b', last: stored('u') },
    });
  });
});
