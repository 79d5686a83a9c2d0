/** The `eviction` subresource of pods. There are no disruption budgets, so an eviction is a deletion. */
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import { badRequest } from '../../object-log/failures.ts';
import type { Exchange, Target } from '../http/request.ts';
import { type DeleteOptions, deleteUnder } from './removals.ts';
import { effectOf } from './write-options.ts';
import { objectIn, type WriteAnswer, type WriteContext } from './writes.ts';

/** Handles a POST. */
export function evict(exchange: Exchange, target: Target, context: WriteContext): WriteAnswer {
  const type = { kind: 'Eviction', apiVersion: 'policy/v1', custom: false };
  const body = objectIn(exchange, type, target.namespace);
  const { deleteOptions = {} } = body as KubernetesObject & { deleteOptions?: DeleteOptions };
  if (body.metadata?.name !== target.name) {
    throw badRequest('name in URL does not match name in Eviction object');
  }
  const effect = effectOf(exchange, 'CreateOptions', deleteOptions.dryRun);
  deleteUnder(deleteOptions, target, context, effect);
  const head = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' };
  return { code: 201, content: { json: { ...head, code: 201 } } };
}
