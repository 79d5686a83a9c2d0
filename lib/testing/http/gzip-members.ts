/**
 * Compresses a body like a streaming list of Kubernetes 1.37, with a gzip member for each flush.
 * kubernetes: apiserver/pkg/endpoints/handlers/watch.go, perFlushGzipWriter.
 */
import type { Body } from './body.ts';

async function gzipped(bytes: Uint8Array): Promise<Uint8Array> {
  const stream = new Blob([Uint8Array.from(bytes)]).stream();
  const packed = new Response(stream.pipeThrough(new CompressionStream('gzip')));
  return new Uint8Array(await packed.arrayBuffer());
}

/** Turns each piece of `body` into a gzip member. */
export function gzipMembers(body: Body): Body {
  let packing = false;
  let packed: Uint8Array | undefined;
  const pack = async (bytes: Uint8Array) => {
    packing = true;
    packed = await gzipped(bytes);
    packing = false;
    members.onReadable?.();
  };
  const members: Body = {
    onReadable: undefined,
    read() {
      if (packing) return undefined;
      const member = packed;
      packed = undefined;
      if (member !== undefined) return member;
      const bytes = body.read();
      if (!bytes) return bytes;
      void pack(bytes);
      return undefined;
    },
    cancel() {
      body.onReadable = undefined;
      body.cancel();
    },
  };
  body.onReadable = () => members.onReadable?.();
  return members;
}
