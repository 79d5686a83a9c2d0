/** `rx-informer/testing`: a fake API server, fault injection, and marble tests of informers. */

export type { Snapshot } from '../object-log/object-log.ts';
export { inTurn } from '../rx/drain.ts';
export type { Cause, ChangeSet } from '../store/change-set.ts';
export { createVirtualTime, type VirtualTime } from './create-virtual-time.ts';
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
} from './faults/fault-machine.ts';
export {
  type FaultScriptOptions,
  type FaultStep,
  faultScript,
  type HttpFault,
  type ScriptedFault,
  type StreamFault,
  type TcpFault,
} from './faults/fault-script.ts';
export type { Faults } from './faults/faults.ts';
export type { Holding } from './faults/held-body.ts';
export type {
  FailedAnswer,
  Fault,
  Match,
  RequestMatch,
  Truncation,
} from './faults/standing-faults.ts';
export {
  createTcpProxy,
  type StandingTcpFault,
  type TcpProxy,
  type TcpProxyOptions,
} from './faults/tcp-proxy.ts';
export type { AccessAttributes, AccessRule } from './http/access.ts';
export type { RequestRecord } from './http/request.ts';
export type { Served, ServeOptions } from './http/served.ts';
export type { FakeUser } from './http/users.ts';
export { permittedBy } from './permitted-by.ts';
export type { PodLogs } from './pod-log.ts';
export { seededRandom } from './seeded-random.ts';
export type { PrinterColumn } from './served-resource.ts';
export { defaultResources, type ResourceTraits } from './served-resource.ts';
export type {
  ObjectRef,
  ServerChange,
  ServerObject,
  ServerObjects,
  WriteOptions,
} from './server-objects.ts';
export type { MarbleLimits } from './streams/bounded-scheduler.ts';
export { type ChangeSetInit, changeSet } from './streams/change-set.ts';
export {
  type MarbleListWatch,
  type MarbleListWatchOptions,
  type MarbleRequest,
  marbleListWatch,
} from './streams/marble-list-watch.ts';
export type {
  MarbleEvent,
  MarbleList,
  MarbleSignal,
  MarbleValue,
} from './streams/marble-values.ts';
export { type MarbleHelpers, marbles } from './streams/marbles.ts';
