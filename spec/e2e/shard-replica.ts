/**
 * One replica of a controller in shards, as a process of its own: it writes its membership into each Foo of its slots, again after
 * each change of the Foo, and with `again` also every so many milliseconds. It prints the slots that it owns as lines of JSON.
 */
import { parseArgs } from 'node:util';
import {
  createController,
  createListWatch,
  createResourceClient,
  createShardedInformer,
  createShardMember,
  guardedClient,
} from 'rx-informer';
import { clientFromKubeConfig } from 'rx-informer/node';
import { foos } from '../../examples/sample-controller/foo.ts';

/** The annotation with the id of the membership that wrote, and the generation for which it wrote. */
const WRITER = 'shards/writer';

const { values } = parseArgs({
  options: {
    kubeconfig: { type: 'string', default: '' },
    namespace: { type: 'string', default: '' },
    identity: { type: 'string', default: '' },
    lease: { type: 'string', default: '4000' },
    again: { type: 'string', default: '0' },
  },
});
const { namespace, identity } = values;
const client = await clientFromKubeConfig({ file: values.kubeconfig, qps: 0 });
const member = createShardMember({
  ...{ client, namespace, name: 'ring', identity, leaseDurationMs: Number(values.lease) },
  onError: (error) => process.stderr.write(`${identity}: ${error.message}\n`),
});
const informer = createShardedInformer(createListWatch(client, foos, { namespace }), {
  shards: member,
});
const requeueAfterMs = Number(values.again);
const controller = createController({
  name: identity,
  for: informer,
  shards: member,
  concurrency: 16,
  async reconcile(key, { object, signal }) {
    if (object === undefined) return undefined;
    const { annotations: before = {}, generation } = object.metadata;
    if (requeueAfterMs === 0 && before[WRITER]?.split(' ')[1] === String(generation))
      return undefined;
    const writer = `${member.status.id} ${generation}`;
    const calls = createResourceClient(guardedClient(client, signal), foos);
    const count = Number(before['shards/count'] ?? 0) + 1;
    const annotations = { [WRITER]: writer, 'shards/count': String(count) };
    const { resourceVersion } = object.metadata;
    const written = await calls.patch(key, {
      merge: { metadata: { resourceVersion, annotations } },
    });
    await informer.whenObserved(key, written.metadata.resourceVersion);
    return requeueAfterMs > 0
      ? { requeueAfterMs: requeueAfterMs * (0.5 + Math.random()) }
      : undefined;
  },
});
member.slots$.subscribe((slots) => {
  process.stdout.write(`${JSON.stringify({ id: member.status.id, slots: [...slots] })}\n`);
});
controller.start();
process.once('SIGTERM', () => {
  void controller
    .stop()
    .then(() => informer.stop())
    .then(() => client.close());
});
