/** Certificates that expire within a day. Such a list changes without an event, because time passes. */
import {
  createClient,
  createListWatch,
  createSharedInformer,
  defineResource,
  type KubernetesObject,
  liveFilter,
  liveSort,
  liveUntil,
  toView,
} from 'rx-informer';
import { createFakeApiServer } from 'rx-informer/testing';
import { filter, firstValueFrom } from 'rxjs';

/** A Certificate of cert-manager, with the field that is used here. */
interface Certificate extends KubernetesObject {
  readonly status?: { readonly notAfter?: string };
}
const certificates = defineResource<Certificate>({
  group: 'cert-manager.io',
  version: 'v1',
  plural: 'certificates',
  kind: 'Certificate',
  namespaced: true,
});

const DAY_MS = 86_400_000;
const { fetch, objects, addResource } = createFakeApiServer();
addResource(certificates);
const create = (name: string, leftMs: number) =>
  objects.create(certificates, {
    metadata: { namespace: 'shop', name },
    status: { notAfter: new Date(Date.now() + leftMs).toISOString() },
  });
create('expired', -1_000);
create('next-month', 30 * DAY_MS);

const client = createClient({ baseUrl: 'http://fake', fetch });
const informer = createSharedInformer(createListWatch(client, certificates));
/** When a certificate expires, in milliseconds since the Unix epoch; `Infinity` if that is not known yet. */
const endMsOf = ({ status }: Certificate) =>
  status?.notAfter === undefined ? Number.POSITIVE_INFINITY : Date.parse(status.notAfter);

const expiring = informer.changes$.pipe(
  // Asks for another evaluation of the row when a day is left.
  liveUntil((certificate) => endMsOf(certificate) - DAY_MS),
  liveFilter((certificate, nowMs) => endMsOf(certificate) - nowMs <= DAY_MS),
  liveSort((one, other) => endMsOf(one) - endMsOf(other)),
  toView(),
);
const print = () => {
  const { rows } = expiring.getSnapshot();
  console.log(`expiring: ${rows.map(({ metadata }) => metadata.name).join(' ')}`);
};
const leave = expiring.subscribe(() => undefined);
await informer.whenSynced({ timeoutMs: 10_000 });
print();
create('tomorrow', DAY_MS + 500);
// No object changes from here on.
await firstValueFrom(expiring.items$.pipe(filter(({ length }) => length > 1)));
print();
leave();
await informer.stop();
