/** The API server of the load of users: Pods that change, of which a label says when. */
import { createInterface } from 'node:readline';
import { pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { namespaceOf, rowsOf } from './load.ts';

const [count = 2_000, perSecond = 20] = process.argv.slice(2).map(Number);
const api = createFakeApiServer();
const nameOf = (at: number) => `web-${String(at).padStart(6, '0')}`;
for (let at = 0; at < count; at++) {
  api.objects.create(pods, {
    metadata: { namespace: namespaceOf(at), name: nameOf(at), labels: { at: '0' } },
    spec: { nodeName: `node-${at % 50}`, containers: [{ name: 'web', image: 'web:1' }] },
    status: { phase: at % 7 === 0 ? 'Pending' : 'Running' },
  });
}
const { url } = await api.serve();

/** Half of the changes are among the first Pods, which windows show. */
let made = 0;
let isPaused = false;
setInterval(() => {
  if (isPaused) return;
  const at = made++ % 2 === 0 ? (made * 3) % 400 : (made * 17) % count;
  const pod = api.objects.get(pods, { namespace: namespaceOf(at), name: nameOf(at) });
  const labels = { at: String(performance.timeOrigin + performance.now()) };
  if (pod !== undefined) {
    api.objects.update(pods, { ...pod, metadata: { ...pod.metadata, labels } } as never);
  }
}, 1_000 / perSecond);

process.stdout.write(`${JSON.stringify({ url })}\n`);
/** Whether writes pause, and of which queries the rows are wanted: of users who see all, or what they may. */
interface Asked {
  readonly isPaused?: boolean;
  readonly pairs?: readonly (readonly [user: number, at: number])[];
  readonly seesAll?: boolean;
}

// Answers each line of the parent with how it is used.
createInterface({ input: process.stdin })
  .on('line', (line) => {
    const asked: Asked = JSON.parse(line || '{}');
    isPaused = asked.isPaused ?? isPaused;
    const ofPods = (use: string) =>
      api.requests.filter((each) => each.use === use && each.path.endsWith('/pods')).length;
    const { pairs = [], seesAll } = asked;
    const all = pairs.length === 0 ? [] : api.objects.list(pods);
    const rows = pairs.map(([user, at]) => rowsOf(all, user, at, seesAll ? 'all' : undefined));
    const said = { lists: ofPods('list'), watches: ofPods('watch'), rows };
    process.stdout.write(`${JSON.stringify(said)}\n`);
  })
  .on('close', () => process.exit());
