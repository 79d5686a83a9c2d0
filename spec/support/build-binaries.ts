/** Builds all binaries of the checks, one after the other, so that a run of all checks can do it beside other steps. */
import { ensureBinary } from '../e2e/apiserver-binary.ts';
import { ensureNatsBinary } from '../nats/nats-binary.ts';
import { ensureOracle } from '../oracle/oracle-binary.ts';

await ensureNatsBinary();
await ensureBinary();
await ensureOracle();
