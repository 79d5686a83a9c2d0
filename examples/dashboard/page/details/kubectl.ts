/** The lines of kubectl for an object. */
import type { KubernetesObject } from 'rx-informer';
import type { Deployment, Pod, Service } from 'rx-informer/resources';
import type { ObjectName } from '../cluster/page-state.ts';
import type { Kind } from '../kinds/kind.ts';

export interface Copied {
  readonly label: string;
  readonly text: string;
}

/** What a container or a service listens on, and what a Pod consists of, as far as the commands need it. */
export interface Ports {
  readonly port?: number | undefined;
  readonly container?: string | undefined;
}

/** The port of a Pod, a workload or a Service, and the container that a shell begins in. */
export function portsOf(object: KubernetesObject | undefined): Ports {
  const { template } = (object as Deployment | undefined)?.spec ?? {};
  const { containers = template?.spec?.containers } = (object as Pod | undefined)?.spec ?? {};
  const { ports } = (object as Service | undefined)?.spec ?? {};
  const [first] = containers ?? [];
  const port = ports?.[0]?.port ?? first?.ports?.[0]?.containerPort;
  return { port, container: first?.name };
}

const PLAIN = /^[\w./:@-]+$/;

/** A word of a command line. A kubeconfig may give its contexts any names. */
const quoted = (word: string) => (PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

const ofPods = { logs: 'logs {of} --all-containers --follow', exec: 'exec -it {of}{-c} -- sh' };
const forward = { 'port-forward': 'port-forward {of} {port}:{port}' };
const ofWorkloads = {
  ...{ logs: ofPods.logs, 'rollout status': 'rollout status {of}' },
  ...{ 'rollout history': 'rollout history {of}', exec: ofPods.exec, ...forward },
};

/** The commands of a kind, by their names. `{of}` is `pod/web-0`. */
const commands: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  pods: { ...ofPods, debug: 'debug -it {of} --image=busybox{--target}', ...forward },
  deployments: ofWorkloads,
  statefulsets: ofWorkloads,
  daemonsets: ofWorkloads,
  services: forward,
  nodes: {
    drain: 'drain {name} --ignore-daemonsets --delete-emptydir-data',
    uncordon: 'uncordon {name}',
    top: 'top node {name}',
  },
};

/** What can be copied of an object: its name, and lines of kubectl for its context and namespace. */
export function copiesOf(
  { id, resource }: Kind,
  { namespace, name }: Pick<ObjectName, 'namespace' | 'name'>,
  context: string | undefined,
  ports: Ports = {},
): readonly Copied[] {
  const flags = [
    ...(context === undefined ? [] : ['--context', quoted(context)]),
    ...(namespace === '' ? [] : ['-n', namespace]),
  ];
  const kubectl = (text: string) => ['kubectl', ...flags, text].join(' ');
  const suffix = resource.group === '' ? '' : `.${resource.group}`;
  const of = `${resource.plural.replace(/s$/, '')}${suffix}/${name}`;
  const { port, container } = ports;
  const words: Readonly<Record<string, string>> = {
    ...{ of, name, port: String(port) },
    ...{ '-c': container ? ` -c ${container}` : '' },
    ...{ '--target': container ? ` --target ${container}` : '' },
  };
  const general = { get: 'get {of} -o yaml', describe: 'describe {of}' };
  const lines = Object.entries({ ...general, ...commands[id] })
    .filter(([, line]) => port !== undefined || !line.includes('{port}'))
    .map(([label, line]) => {
      const filled = line.replace(/\{([\w-]+)\}/g, (_all, word: string) => words[word] ?? '');
      return { label: `kubectl ${label}`, text: kubectl(filled) };
    });
  return [{ label: 'Name', text: name }, ...lines];
}
