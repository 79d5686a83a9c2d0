/** `rx-informer/testing`: a fake API server, and what tests of streams need. */

export type { Cause, ChangeSet } from '../store/change-set.ts';
export { type ChangeSetInit, changeSet } from './change-set.ts';
export {
  createFakeApiServer,
  type FakeApiServer,
  type FakeApiServerOptions,
  type OpenWatch,
} from './fake-api-server.ts';
export {
  createFaultMachine,
  type FaultMachine,
  type FaultMachineOptions,
  type PlayedFault,
} from './fault-machine.ts';
export {
  type FaultScriptOptions,
  type FaultStep,
  faultScript,
  type HttpFault,
  type ScriptedFault,
  type StreamFault,
  type TcpFault,
} from './fault-script.ts';
export type { FailedAnswer, Fault, Faults, Truncation } from './faults.ts';
export type { Holding } from './held-body.ts';
export { type MarbleHelpers, marbles } from './marbles.ts';
export type { Snapshot } from './object-log.ts';
export type { PodLogs } from './pod-log.ts';
export type { RequestRecord } from './request.ts';
export type { Match, RequestMatch } from './request-match.ts';
export { seededRandom } from './seeded-random.ts';
export type { Served, ServeOptions } from './serve.ts';
export { defaultResources, type ResourceTraits } from './served-resource.ts';
export type { ObjectRef, ServerObject, ServerObjects, WriteOptions } from './server-objects.ts';
export type { PrinterColumn } from './table-columns.ts';
export {
  createTcpProxy,
  type StandingTcpFault,
  type TcpProxy,
  type TcpProxyOptions,
} from './tcp-proxy.ts';
