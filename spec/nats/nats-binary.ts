/** Builds the NATS server's binary from the Go module in `server/`. */
import { fileURLToPath } from 'node:url';
import { type BuiltBinary, ensureBuiltBinary } from '../support/built-binary.ts';

const binary: BuiltBinary = {
  name: 'test-nats-server',
  sources: fileURLToPath(new URL('./server/', import.meta.url)),
  what: 'nats-server',
  takes: '1 minute',
  needsCompiler:
    'The NATS tests build a nats-server and need Go 1.26 or newer in PATH (https://go.dev/dl).',
};

/** Builds the binary unless it is cached. Rejects with one sentence if Go is missing or the build fails. */
export function ensureNatsBinary(): Promise<string> {
  return ensureBuiltBinary(binary);
}
