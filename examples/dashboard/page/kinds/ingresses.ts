/** Ingresses, and the Services behind them that do not exist. */
import { liveJoin } from 'rx-informer';
import { ingresses } from 'rx-informer/resources';
import { map } from 'rxjs';
import { column, columnsWith, defineKind, isComplete, type Row, rowOf } from './kind.ts';
import { serviceKind } from './others.ts';

/** The row of an Ingress with the Services of its namespace. Before all of them are known, none is missed. */
export const withServices =
  (areKnown: boolean) =>
  (row: Row, services: readonly Row[]): Row => {
    const known = new Set(services.map(({ name }) => name));
    const wanted = String(row['services']).split(', ').filter(Boolean);
    const missing = wanted.filter((name) => areKnown && !known.has(name));
    if (missing.length === 0) return row;
    const why = `no such Service: ${missing.join(', ')}`;
    return { ...row, status: 'No Service', tone: 'bad', why };
  };

export const ingressKind = defineKind({
  id: 'ingresses',
  title: 'Ingresses',
  resource: ingresses,
  tones: { good: 'Ready', busy: 'Waiting', bad: 'In trouble' },
  columns: columnsWith(
    column.status,
    { id: 'hosts', title: 'Hosts', type: 'text', width: 150, grow: 1.5 },
    { id: 'services', title: 'Services', type: 'text', width: 120, grow: 1 },
    { id: 'address', title: 'Address', type: 'text', width: 120 },
    column.why,
  ),
  isJoinedInDetails: true,
  row: (object) => {
    const { ingressClassName: by, rules = [], defaultBackend } = object.spec ?? {};
    const [given] = object.status?.loadBalancer?.ingress ?? [];
    const address = given?.ip ?? given?.hostname ?? '';
    const why = `no address yet: no controller${by ? ` of the class ${by}` : ''} has taken it`;
    const backends = rules.flatMap(({ http }) => http?.paths.map(({ backend }) => backend) ?? []);
    const names = [defaultBackend, ...backends].flatMap((each) => each?.service?.name ?? []);
    const hosts = [...new Set(rules.map(({ host }) => host ?? '*'))].join(', ');
    const services = [...new Set(names)].join(', ');
    return rowOf(
      object,
      address === ''
        ? { status: 'No address', tone: 'busy', why }
        : { status: 'Ready', tone: 'good' },
      { hosts, services, address },
      ...[hosts, services],
    );
  },
  join: (ingresses$, rowsOf) => {
    const services$ = rowsOf(serviceKind);
    return ingresses$.pipe(
      liveJoin(services$, {
        on: { left: ({ namespace }) => namespace, right: ({ namespace }) => namespace },
        project: isComplete(services$).pipe(map(withServices)),
      }),
    );
  },
});
