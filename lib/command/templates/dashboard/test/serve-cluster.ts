/** Serves the fake API server: `npm run cluster`, or `npm run cluster -- 9001` for another port. */
import { pods } from 'rx-informer/resources';
import { fakeCluster } from './fake-cluster.ts';

const server = fakeCluster(200);
const { url } = await server.serve({ port: Number(process.argv[2] ?? 8001) });
console.log(`The fake API server listens at ${url}. Two Pods change each second.`);
setInterval(() => {
  for (const { metadata } of server.objects.list(pods).slice(0, 2)) {
    server.objects.modify(pods, metadata, (pod) => {
      pod.status = { phase: pod.status?.phase === 'Running' ? 'Pending' : 'Running' };
    });
  }
}, 1_000);
