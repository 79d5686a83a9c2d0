/** The facts of an object that engineers look for first. */
import { Anchor } from '@mantine/core';
import type { ReactNode } from 'react';
import { type KubernetesObject, podRequests, type Stored } from 'rx-informer';
import type {
  Container,
  Deployment,
  EnvVar,
  Event,
  Node,
  Pod,
  ResourceQuota,
} from 'rx-informer/resources';
import { go, type ObjectName, page$, writePage } from '../cluster/page-state.ts';
import { kindNamed } from '../kinds/index.ts';
import { type Kind, ownerOf } from '../kinds/kind.ts';
import { usageOf } from '../kinds/quotas.ts';
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

/** Where the value of a variable comes from. The values of ConfigMaps and Secrets are not requested. */
function sourceOf({ value = '', valueFrom }: EnvVar): string {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef } = valueFrom ?? {};
  if (fieldRef) return `field ${fieldRef.fieldPath}`;
  if (resourceFieldRef) return `resource ${resourceFieldRef.resource}`;
  if (configMapKeyRef) return `key ${configMapKeyRef.key} of ConfigMap/${configMapKeyRef.name}`;
  if (secretKeyRef) return `key ${secretKeyRef.key} of Secret/${secretKeyRef.name}`;
  return value || '(empty)';
}

/** The variables of a container, by name, and the objects whose keys are variables. */
function environmentOf({ env = [], envFrom = [] }: Container): Facts {
  const from = envFrom.map(({ prefix = '', configMapRef, secretRef }) => [
    configMapRef ? `ConfigMap/${configMapRef.name}` : `Secret/${secretRef?.name}`,
    prefix ? `each key, as ${prefix}…` : 'each key',
  ]);
  return Object.fromEntries([...env.map((each) => [each.name, sourceOf(each)]), ...from]);
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
    ...(spec?.containers ?? []).flatMap((container) => [
      { title: `Container ${container.name}`, facts: containerFacts(pod, container) },
      { title: `Environment of ${container.name}`, facts: environmentOf(container) },
    ]),
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
  kind: Kind,
  object: Stored<KubernetesObject>,
): readonly { readonly title: string; readonly facts: Facts }[] {
  const { namespace = '', creationTimestamp, uid } = object.metadata;
  const owner = ownerOf(object);
  const pod = kind.id === 'pods' ? podFacts(object as Pod) : [];
  const common = {
    Owner: owner && reference({ ...owner, namespace }),
    Created: creationTimestamp,
    'Deletion requested': object.metadata.deletionTimestamp,
    UID: uid,
  };
  const usage = kind.id === 'quotas' ? usageOf(object as ResourceQuota) : [];
  const used = usage.map(({ resource, text }) => [resource, text]);
  const [first, ...rest] = pod;
  if (first !== undefined) return [{ ...first, facts: { ...first.facts, ...common } }, ...rest];
  return [
    ...(used.length === 0 ? [] : [{ title: 'Used', facts: Object.fromEntries(used) as Facts }]),
    { title: kind.resource.kind, facts: { ...ownFacts(object), ...common } },
  ];
}
