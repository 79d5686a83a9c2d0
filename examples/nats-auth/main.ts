/**
 * Runs the service of auth-callout.ts for the cluster of the kubeconfig.
 *
 *     NATS_URL=nats://127.0.0.1:4222 NATS_USER=auth NATS_PASSWORD=… NATS_ISSUER_SEED=SA… BUCKET=k8s \
 *       node --conditions=rx-informer-source examples/nats-auth/main.ts
 */
import { fromSeed } from '@nats-io/nkeys';
import { connect } from '@nats-io/transport-node';
import { clientFromKubeConfig } from 'rx-informer/node';
import { deployments, pods } from 'rx-informer/resources';
import { answerAuthCallouts } from './auth-callout.ts';

const { NATS_URL, NATS_USER, NATS_PASSWORD, NATS_ISSUER_SEED, BUCKET = 'k8s' } = process.env;
if (NATS_URL === undefined || NATS_ISSUER_SEED === undefined) {
  throw new Error(
    'set NATS_URL and NATS_ISSUER_SEED: the address of NATS and the key that auth_callout names',
  );
}
const connection = await connect({
  servers: NATS_URL,
  maxReconnectAttempts: -1,
  ...(NATS_USER === undefined ? {} : { user: NATS_USER, pass: NATS_PASSWORD ?? '' }),
});
answerAuthCallouts({
  connection,
  client: await clientFromKubeConfig(),
  issuer: fromSeed(new TextEncoder().encode(NATS_ISSUER_SEED)),
  accounts: { bucket: 'BUCKET', reader: 'READERS' },
  bucket: BUCKET,
  resources: [pods, deployments],
  onRefused: (reason) => console.error(`refused: ${reason}`),
});
console.log(`answering the auth callouts of ${NATS_URL}`);
