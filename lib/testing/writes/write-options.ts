/** The options of a write that are in its query, checked as a real server checks them. */

import { invalid, unsupportedOption } from '../../object-log/failures.ts';
import type { Exchange } from '../http/request.ts';
import type { WriteEffect } from './object-writer.ts';

/** Reads `dryRun` from the query, or from the options in a body. `options` names them in a refusal. */
export function effectOf(
  { query }: Exchange,
  options: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions' | 'DeleteOptions',
  inBody?: readonly string[],
): WriteEffect {
  const given = inBody ?? query.getAll('dryRun');
  for (const value of given) if (value !== 'All') throw unknownDryRun(options, given);
  return { dryRun: given.length > 0 };
}

function unknownDryRun(options: string, given: readonly string[]): Error {
  const message = `Unsupported value: ${JSON.stringify(given)}: supported values: "All"`;
  return invalid(
    { kind: options, name: '', group: 'meta.k8s.io' },
    { reason: 'FieldValueNotSupported', message, field: 'dryRun' },
  );
}

const POLICIES = ['Foreground', 'Background', 'Orphan', 'nil'];

/** Refuses a way of deletion that is none. */
export function checkPropagationPolicy(policy: string | undefined): void {
  if (policy === undefined || POLICIES.includes(policy)) return;
  throw unsupportedOption('DeleteOptions', 'propagationPolicy', policy, POLICIES);
}
