/** Reads the options of a write from its query, with the validation of a real server. */

import { invalid, unsupportedOption } from '../../object-log/failures.ts';
import type { Exchange } from '../http/request.ts';
import type { WriteEffect } from './object-writer.ts';

/** Reads `dryRun` from the query, or from the options in a body. Errors name `options`. */
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

/** Refuses an unknown propagation policy. */
export function checkPropagationPolicy(policy: string | undefined): void {
  if (policy === undefined || POLICIES.includes(policy)) return;
  throw unsupportedOption('DeleteOptions', 'propagationPolicy', policy, POLICIES);
}
