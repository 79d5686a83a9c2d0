/**
 * Chooses the cluster of a run once, and builds our own server here, so that no test's timeout includes the build.
 */
import { ensureBinary } from './apiserver-binary.ts';
import { givenKubeconfig } from './cluster.ts';

export async function setup(): Promise<void> {
  if (givenKubeconfig === undefined) {
    await ensureBinary();
    return;
  }
  process.stderr.write(
    `using the cluster of ${givenKubeconfig}; tests that compact or crash the server, or set its flags, are skipped\n`,
  );
}
