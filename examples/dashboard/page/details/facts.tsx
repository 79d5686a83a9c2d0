/** The facts of an object that engineers look for first. */
import { Anchor } from '@mantine/core';
import type { ReactNode } from 'react';
import { type KubernetesObject, podRequests, type Stored } from 'rx-informer';
import type { Container, Deployment, Event, Node, Pod } from 'rx-informer/resources';
import { go, type ObjectName, page$, writePage } from '../cluster/page-state.ts';
import { kindNamed } from '../kinds/index.ts';
import { ownerOf } from '../kinds/kind.ts';
import classes from './details.module.css';

type Facts = Readonly<Record<string, ReactNode>>;

/** A link to the details of another object. */
export function ObjectLink({ of, text }: { readonly of: ObjectName; readonly text: string }) {
  return (
    <Anchor
      className={classes.link}
      href={writePage({ ...page$.value, object: of, tab: '' })}
      onClick={(event) => {
        event.preventDefault();
        go({ object: of, tab: '' });
      }}
    >
      {text}
    </Anchor>
  );
}

/** A link to an object of a kind that the page shows, otherwise its name. */
function reference(about: {
  readonly kind?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly uid?: string;
}): ReactNode {
  const { kind: kindName = '', name = '', namespace = '', uid = '' } = about;
  const kind = kindNamed(kindName);
  if (kind === undefined) return `${kindName}/${name}`;
  const of = { kind: kind.id, name, uid, namespace: kind.resource.namespaced ? namespace : '' };
  return <ObjectLink of={of} text={`${kindName}/${name}`} />;
}

function containerFacts(pod: Pod, { name, image, ports, resources }: Container): Facts {
  const state = pod.status?.containerStatuses?.find((each) => each.name === name);
  const amounts = (texts: Readonly<Record<string, string | number>> | undefined) =>
    Object.entries(texts ?? {})
      .map(([resource, amount]) => `${resource} ${amount}`)
      .join(', ');
  return {
    Image: image,
    Ready: state?.ready ? 'yes' : 'no',
    Restarts: state && String(state.restartCount),
    Ports: ports?.map(({ containerPort }) => containerPort).join(', '),
    Requests: amounts(resources?.requests),
    Limits: amounts(resources?.limits),
  };
}

function podFacts(pod: Pod): readonly { readonly title: string; readonly facts: Facts }[] {
  const { spec, status } = pod;
  const { cpu, memory } = podRequests(pod);
  const node = spec?.nodeName;
  return [
    {
      title: 'Pod',
      facts: {
        Phase: status?.phase,
        Node: node && reference({ kind: 'Node', name: node }),
        'Pod IP': status?.podIP,
        'Service account': spec?.serviceAccountName,
        Requests: `cpu ${cpu.milli}m, memory ${Math.round(memory.value / 2 ** 20)}Mi`,
      },
    },
    ...(spec?.containers ?? []).map((container) => ({
      title: `Container ${container.name}`,
      facts: containerFacts(pod, container),
    })),
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

/** The sections of facts of an object. */
export function factsOf(
  object: Stored<KubernetesObject>,
): readonly { readonly title: string; readonly facts: Facts }[] {
  const { namespace = '', creationTimestamp, uid } = object.metadata;
  const owner = ownerOf(object);
  const kind = String(object.kind ?? '');
  const pod =
    kind === 'Pod' || 'containers' in ((object as Pod).spec ?? {}) ? podFacts(object as Pod) : [];
  const common = {
    Owner: owner && reference({ ...owner, namespace }),
    Created: creationTimestamp,
    'Deletion requested': object.metadata.deletionTimestamp,
    UID: uid,
  };
  const [first, ...rest] = pod;
  if (first !== undefined) return [{ ...first, facts: { ...first.facts, ...common } }, ...rest];
  return [{ title: kind || 'Object', facts: { ...ownFacts(object), ...common } }];
}
