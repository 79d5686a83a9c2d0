/**
 * Compares the column of this version in docs/reference/kubernetes-versions.md with what the running server does.
 * `KUBERNETES_FACTS=write` writes the column instead.
 */
import { describe, expect, it } from 'vitest';
import { minor } from '../apiserver-binary.ts';
import { noControl } from '../cluster.ts';
import { measureFacts } from './measure.ts';
import { readTable, writeColumn } from './table.ts';

describe.skipIf(noControl)('the documented facts of this version of Kubernetes', () => {
  it('are those of the running server', async () => {
    const facts = await measureFacts();
    if (process.env['KUBERNETES_FACTS'] === 'write') writeColumn(`1.${minor}`, facts);
    expect(readTable().get(`1.${minor}`)).toEqual(facts);
  }, 300_000);
});
