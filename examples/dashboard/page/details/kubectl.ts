/** The lines of kubectl for an object. */
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

const PLAIN = /^[\w./:@-]+$/;

/** A word of a command line. A kubeconfig may give its contexts any names. */
const quoted = (word: string) => (PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/** The commands of a kind, after `kubectl` and the flags. `of` is `pod/web-0`. */
function ownCommands(id: string, of: string, { port, container }: Ports): readonly Copied[] {
  const flag = container === undefined ? '' : ` -c ${container}`;
  const forward = { label: 'port-forward', text: `port-forward ${of} ${port}:${port}` };
  const forwards = port === undefined ? [] : [forward];
  switch (id) {
    case 'pods':
      return [
        { label: 'logs', text: `logs ${of} --all-containers --follow` },
        { label: 'exec', text: `exec -it ${of}${flag} -- sh` },
        {
          label: 'debug',
          text: `debug -it ${of} --image=busybox${flag.replace('-c', '--target')}`,
        },
        ...forwards,
      ];
    case 'deployments':
    case 'statefulsets':
    case 'daemonsets':
      return [
        { label: 'logs', text: `logs ${of} --all-containers --follow` },
        { label: 'rollout status', text: `rollout status ${of}` },
        { label: 'rollout history', text: `rollout history ${of}` },
        { label: 'exec', text: `exec -it ${of}${flag} -- sh` },
        ...forwards,
      ];
    case 'services':
      return forwards;
    case 'nodes': {
      const name = of.slice(of.indexOf('/') + 1);
      return [
        { label: 'drain', text: `drain ${name} --ignore-daemonsets --delete-emptydir-data` },
        { label: 'uncordon', text: `uncordon ${name}` },
        { label: 'top', text: `top node ${name}` },
      ];
    }
    default:
      return [];
  }
}

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
  return [
    { label: 'Name', text: name },
    ...[
      { label: 'get', text: `get ${of} -o yaml` },
      { label: 'describe', text: `describe ${of}` },
      ...ownCommands(id, of, ports),
    ].map(({ label, text }) => ({ label: `kubectl ${label}`, text: kubectl(text) })),
  ];
}
