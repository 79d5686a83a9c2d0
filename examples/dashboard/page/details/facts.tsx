/** The facts of an object that engineers look for first. */
import type { ReactNode } from 'react';
import { type KubernetesObject, podRequests, type Stored } from 'rx-informer';
import type { Container, Deployment, Event, Node, Pod, ResourceQuota } from 'rx-informer/resources';
import { amountsText, bytesText, cpuText } from '../kinds/amounts.ts';
import { type Column, type Kind, ownerOf } from '../kinds/kind.ts';
import { claimsOf, statusesOf } from '../kinds/pod-status.ts';
import { probesOf } from '../kinds/probes.ts';
import { usageOf } from '../kinds/quotas.ts';
import { Age } from '../table/cells.tsx';
import { environmentOf } from './environment.tsx';
import { nodeFacts } from './node-facts.tsx';
import { reference } from './object-link.tsx';

type Facts = Readonly<Record<string, ReactNode>>;

function containerFacts(pod: Pod, container: Container): Facts {
  const { name, image, ports, resources } = container;
  const state = statusesOf(pod).find((each) => each.name === name);
  return {
    Image: image,
    Ready: state?.ready ? 'yes' : 'no',
    Restarts: state && String(state.restartCount),
    Ports: ports?.map(({ containerPort }) => containerPort).join(', '),
    Requests: amountsText(resources?.requests),
    Limits: amountsText(resources?.limits),
    ...probesOf(container),
  };
}

function podFacts(
  pod: Pod,
  used: Facts,
): readonly { readonly title: string; readonly facts: Facts }[] {
  const { spec, status, metadata } = pod;
  const { namespace = '' } = metadata ?? {};
  const { cpu, memory } = podRequests(pod);
  const node = spec?.nodeName;
  const claims = claimsOf(pod).map((name) => (
    <div key={name}>{reference({ kind: 'PersistentVolumeClaim', name, namespace })}</div>
  ));
  const partsOf = (what: string) => (container: Container) => [
    { title: `${what} ${container.name}`, facts: containerFacts(pod, container) },
    { title: `Environment of ${container.name}`, facts: environmentOf(container, namespace) },
  ];
  return [
    {
      title: 'Pod',
      facts: {
        Phase: status?.phase,
        Node: node && reference({ kind: 'Node', name: node }),
        'Pod IP': status?.podIP,
        Claims: claims.length > 0 && claims,
        'Service account': spec?.serviceAccountName,
        ...used,
        ...(used['CPU'] === undefined && {
          Requests: `${cpuText(cpu.milli)}, ${bytesText(memory.value)} memory`,
        }),
      },
    },
    ...(spec?.containers ?? []).flatMap(partsOf('Container')),
    ...(spec?.initContainers ?? []).flatMap(partsOf('Init container')),
  ];
}

function ownFacts(object: Stored<KubernetesObject>): Facts {
  const { spec, involvedObject, message, type, count } = object as unknown as Deployment &
    Event & { readonly spec?: Node['spec'] };
  return {
    About: involvedObject && reference(involvedObject),
    Type: type,
    Message: message,
    Count: count && String(count),
    Replicas: spec?.replicas !== undefined && String(spec.replicas),
    Strategy: spec?.strategy?.type,
    Image: spec?.template?.spec?.containers.map(({ image }) => image).join(', '),
    Cordoned: spec?.unschedulable && 'yes',
  };
}

const Ago = ({ sinceMs }: { readonly sinceMs: number }) => (
  <>
    <Age sinceMs={sinceMs} /> ago
  </>
);

/** What the columns of a table say in words. */
function columnFacts({ columns, row, as, id }: Kind, object: Stored<KubernetesObject>): Facts {
  if (as === 'metadata' || id === 'events') return {};
  const values = row(object as never);
  const isFact = ({ id, type }: Column) =>
    !/^(namespace|createdMs|all)$/.test(id) && /^(text|owner|age)$/.test(type);
  const shown = columns.filter(isFact);
  const facts = shown.map(({ id, title, type }) => {
    const text = String(values[id] ?? '');
    if (type === 'age') return [title, Number(text) > 0 && <Ago sinceMs={Number(text)} />];
    const [named = '', name = ''] = text.split('/');
    const namespace = values.namespace;
    return [title, type === 'owner' && text ? reference({ kind: named, name, namespace }) : text];
  });
  return Object.fromEntries(facts) as Facts;
}

export function factsOf(
  kind: Kind,
  object: Stored<KubernetesObject>,
  /** What the object uses now, in words. */
  used: Facts = {},
): readonly { readonly title: string; readonly facts: Facts }[] {
  const { namespace = '', creationTimestamp, uid } = object.metadata;
  const owner = ownerOf(object);
  const pod = kind.id === 'pods' ? podFacts(object as Pod, used) : [];
  const common = {
    Owner: owner && reference({ ...owner, namespace }),
    Created: creationTimestamp,
    'Deletion requested': object.metadata.deletionTimestamp,
    UID: uid,
  };
  const node = kind.id === 'nodes' ? nodeFacts(object as Stored<Node>, used) : {};
  const usage = kind.id === 'quotas' ? usageOf(object as ResourceQuota) : [];
  const ofQuota = usage.map(({ resource, text }) => [resource, text]);
  const [first, ...rest] = pod;
  if (first !== undefined) return [{ ...first, facts: { ...first.facts, ...common } }, ...rest];
  const fields = { ...columnFacts(kind, object), ...ownFacts(object), ...node, ...common };
  return [
    ...(ofQuota.length === 0
      ? []
      : [{ title: 'Used', facts: Object.fromEntries(ofQuota) as Facts }]),
    { title: kind.resource.kind, facts: fields },
  ];
}
