/**
 * The conformance suite for API servers. A real kube-apiserver passes it, and the fake server must pass it, too. The
 * suite sends HTTP requests itself, so that no client can hide a difference.
 */
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  type RunnerTestSuite,
} from 'vitest';
import { accessTests } from './access.ts';
import type { ApiServer } from './api-server.ts';
import { applyTests } from './apply.ts';
import { creationTests } from './creations.ts';
import { customResourceTests } from './custom-resources.ts';
import { dryRunTests } from './dry-runs.ts';
import { expiryTests } from './expiry.ts';
import { failureTests } from './failures.ts';
import { listTests } from './lists.ts';
import { metadataTests } from './metadata.ts';
import { patchTests } from './patches.ts';
import { projectionTests } from './projections.ts';
import { SINCE, sinceOf } from './since.ts';
import { strategicTests } from './strategic.ts';
import { subresourceTests } from './subresources.ts';
import { watchTests } from './watches.ts';
import { writeTests } from './writes.ts';

function titlesIn({ tasks }: RunnerTestSuite): Set<string> {
  return new Set(
    tasks.flatMap((task) => (task.type === 'suite' ? [...titlesIn(task)] : [task.name])),
  );
}

/** Registers the suite for one server. */
export function apiServerConformance(name: string, open: () => Promise<ApiServer>): void {
  describe(`API server conformance: ${name}`, () => {
    let server: ApiServer;
    beforeAll(async () => {
      server = await open();
    });
    afterAll(() => server?.close());
    beforeEach(({ task, skip }) => {
      const since = sinceOf(task.name) ?? 0;
      skip(server.minor < since, `servers do so since Kubernetes 1.${since}`);
    });
    it('each title in since.ts is that of a test', ({ task }) => {
      const titles = titlesIn(task.suite as RunnerTestSuite);
      expect(
        Object.values(SINCE).flatMap((some) => some.filter((one) => !titles.has(one))),
      ).toEqual([]);
    });
    const current = () => server;
    describe('writes', () => writeTests(current));
    describe('creations', () => creationTests(current));
    describe('metadata', () => metadataTests(current));
    describe('patches', () => patchTests(current));
    describe('strategic merge patch', () => strategicTests(current));
    describe('apply', () => applyTests(current));
    describe('projections', () => projectionTests(current));
    describe('subresources', () => subresourceTests(current));
    describe('dry runs', () => dryRunTests(current));
    describe('custom resources', () => customResourceTests(current));
    describe('access', () => accessTests(current));
    describe('lists', () => listTests(current));
    describe('watches', () => watchTests(current));
    describe('expiry', () => expiryTests(current));
    describe('failures', () => failureTests(current));
  });
}
