/// <reference types="node" />
/** The arguments of `rx-informer publish`. */
import { parseArgs } from 'node:util';
import type { PluralName } from '../client/rest-mapper.ts';
import type { NatsAddress } from './nats-connection.ts';
import { UsageError } from './subcommand.ts';

/** The help text of the command. */
export const PUBLISH_USAGE = `Usage: rx-informer publish --kind <name> --nats <url> [options]

Publishes kinds of a cluster to NATS JetStream, where any number of readers follow them with createNatsListWatch.
Runs until SIGTERM or SIGINT, and then releases its Lease.

  --kind <names>        the kinds, as for kubectl: pods,deployments.apps or apps/deployments; can be given several times.
                        Secrets are published only if they are named here. All who may read the bucket can read them
  --namespace <name>    only this namespace (default: all)
  --as metadata         publishes only the metadata of the objects (default: complete objects)

  --nats <url>          a NATS server: nats://, tls://, ws:// or wss://; can be given several times (default: NATS_URL).
                        With one tls:// all servers must offer TLS; nothing is sent to one that does not
  --nats-creds <file>   a credentials file (default: NATS_CREDS)
  --nats-user <name>    a user, whose password is in NATS_PASSWORD (default: NATS_USER). NATS_TOKEN may have a token
  --nats-ca <file>      the authority of the server's certificate (default: the system's)
  --nats-cert <file>    the certificate of this client
  --nats-key <file>     the key of this certificate
  --bucket <name>       the bucket (default: k8s). Its stream is created if it does not exist
  --cluster <name>      a name for the cluster. A bucket of another one is refused (default: the UID of the namespace
                        kube-system, if it may be read)

  --lease <ns>/<name>   a Lease that decides which of several publishers writes (default: no Lease, one publisher)
  --lease-seconds <n>   how long another publisher waits after the last renewal of the Lease (default: 15)
  --replicas <n>        how many NATS servers keep the stream, if it is created (default: 1)
  --heartbeat <n>       the seconds between signs of life while nothing changes (default: 10)
  --compare-every <n>   the seconds between comparisons of the bucket with the cluster (default: 600)
  --keep-deletions <n>  for how many seconds the bucket keeps deletions. Readers that were away for longer list again
                        (default: 900)

  --kubeconfig <path>   the kubeconfig to use (default: as for kubectl, or the pod's service account)
  --context <name>      the context to use (default: the current context)
  --help                show this help

The status is written to the standard error. Once both servers have been reached, failures are retried for ever. The exit code
is 0 after a signal, 1 if a server cannot be reached at the start or NATS closes the connection, 2 if the arguments are wrong.
Before both servers have been reached, a signal ends the process at once.
`;

/** A Lease, and how long it lasts. */
export interface LeaseArguments {
  readonly namespace: string;
  readonly name: string;
  readonly durationMs: number;
}

/** The arguments of the command, checked. */
export interface PublishArguments {
  /** Names as the REST mapper takes them. */
  readonly kinds: readonly (string | PluralName)[];
  readonly namespace: string | undefined;
  readonly metadataOnly: boolean;
  readonly nats: NatsAddress;
  readonly bucket: string;
  readonly cluster: string | undefined;
  readonly lease: LeaseArguments | undefined;
  readonly replicas: number | undefined;
  readonly heartbeatMs: number | undefined;
  readonly compareEveryMs: number | undefined;
  readonly tombstoneMs: number | undefined;
  readonly file: string | undefined;
  readonly context: string | undefined;
}

/** `pods` and `deployments.apps` as they are; `apps/deployments` and `apps/v1/deployments` as group and plural. */
function kindOf(name: string): string | PluralName {
  const parts = name.split('/');
  if (parts.length === 1) return name;
  const [given = '', ...rest] = parts;
  const plural = rest.at(-1) ?? '';
  if (parts.length > 3 || parts.includes('')) {
    throw new UsageError(
      `publish: --kind ${JSON.stringify(name)} is not a name such as pods, deployments.apps or apps/deployments`,
    );
  }
  const group = given === 'core' ? '' : given;
  return rest.length === 2 ? { group, version: rest[0] ?? '', plural } : { group, plural };
}

function kindsOf(given: readonly string[]): (string | PluralName)[] {
  const names = given.flatMap((list) => list.split(',')).map((name) => name.trim());
  const kinds = names.filter((name) => name !== '').map(kindOf);
  if (kinds.length === 0) throw new UsageError('publish needs --kind, for example --kind pods');
  return kinds;
}

function numberOf(name: string, given: string | undefined, least: number): number | undefined {
  if (given === undefined) return undefined;
  const number = Number(given);
  if (given.trim() !== '' && number >= least && number < 1e9) return number;
  throw new UsageError(
    `publish: --${name} is ${JSON.stringify(given)}; it must be a number of at least ${least}`,
  );
}

/** At least 1 s, if nothing else is given. */
function millisecondsOf(name: string, given: string | undefined, least = 1): number | undefined {
  const seconds = numberOf(name, given, least);
  return seconds === undefined ? undefined : Math.round(seconds * 1_000);
}

function replicasOf(given: string | undefined): number | undefined {
  const number = numberOf('replicas', given, 1);
  if (number === undefined || Number.isInteger(number)) return number;
  throw new UsageError(`publish: --replicas is ${given}; it must be a whole number`);
}

/** A name of a namespace. The server would list nothing for another one, and all namespaces for an empty one. */
function namespaceOf(given: string | undefined): string | undefined {
  if (given === undefined || /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(given)) return given;
  throw new UsageError(
    `publish: --namespace is ${JSON.stringify(given)}; it must be the name of one namespace. Leave the option out for all`,
  );
}

function bucketOf(given: string): string {
  if (/^[A-Za-z0-9_-]+$/.test(given)) return given;
  throw new UsageError(
    `publish: --bucket is ${JSON.stringify(given)}; it must consist of letters, digits, '-' and '_'`,
  );
}

function leaseOf(given: string | undefined, seconds: string | undefined) {
  const durationMs = millisecondsOf('lease-seconds', seconds) ?? 15_000;
  if (given === undefined) {
    if (seconds === undefined) return undefined;
    throw new UsageError('publish: --lease-seconds needs --lease');
  }
  const [namespace = '', name = '', ...rest] = given.split('/');
  const isName = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;
  if (!isName.test(namespace) || !isName.test(name) || rest.length > 0) {
    throw new UsageError(
      `publish: --lease is ${JSON.stringify(given)}; it must be <namespace>/<name>`,
    );
  }
  return { namespace, name, durationMs };
}

function urlsOf(given: readonly string[]): string[] {
  const all = given.flatMap((list) => list.split(',')).map((url) => url.trim());
  const urls = all.filter((url) => url !== '');
  if (urls.length === 0) throw new UsageError('publish needs --nats, for example nats://localhost');
  const webSockets = urls.filter((url) => /^wss?:/i.test(url));
  for (const url of urls) {
    // The address is not quoted, because it may contain a password.
    if (url.includes('@')) {
      throw new UsageError(
        'publish: --nats must not contain a user or a password; use --nats-user with NATS_PASSWORD, or --nats-creds',
      );
    }
    if (url.includes('://') && !/^(nats|tls|wss?):/i.test(url)) {
      throw new UsageError(
        `publish: --nats ${url} must begin with nats://, tls://, ws:// or wss://`,
      );
    }
    if (!URL.canParse(url.includes('://') ? url : `nats://${url}`)) {
      throw new UsageError(
        `publish: --nats ${url} is not an address such as nats://localhost:4222`,
      );
    }
  }
  if (webSockets.length !== 0 && webSockets.length !== urls.length) {
    throw new UsageError('publish: --nats must name either WebSockets or TCP servers, not both');
  }
  return urls;
}

type Environment = Readonly<Record<string, string | undefined>>;

function natsOf(
  values: Readonly<Record<string, string | readonly string[] | undefined>>,
  given: Environment,
): NatsAddress {
  // A variable that a manifest sets to '' is not set.
  const environment: Environment = Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== ''),
  );
  const text = (name: string) => {
    const value = values[name];
    return typeof value === 'string' ? value : undefined;
  };
  const named = (values['nats'] ?? []) as readonly string[];
  const servers = urlsOf(named.length > 0 ? named : [environment['NATS_URL'] ?? '']);
  const user = text('nats-user') ?? environment['NATS_USER'];
  const password = environment['NATS_PASSWORD'];
  if (user !== undefined && password === undefined) {
    throw new UsageError(`publish: the NATS user ${user} needs a password in NATS_PASSWORD`);
  }
  const [caFile, certFile, keyFile] = [text('nats-ca'), text('nats-cert'), text('nats-key')];
  if ((certFile === undefined) !== (keyFile === undefined)) {
    throw new UsageError('publish: --nats-cert and --nats-key belong together');
  }
  const hasTlsFile = caFile !== undefined || certFile !== undefined;
  if (hasTlsFile && servers.some((url) => /^wss?:/i.test(url))) {
    throw new UsageError(
      'publish: --nats-ca, --nats-cert and --nats-key need a TCP server; for wss:// set NODE_EXTRA_CA_CERTS',
    );
  }
  // The client reads no scheme of a TCP server, and a reconnect may choose any of them, so one stands for all.
  const isTls = servers.some((url) => /^tls:/i.test(url));
  return {
    servers,
    credsFile: text('nats-creds') ?? environment['NATS_CREDS'],
    user,
    password: user === undefined ? undefined : password,
    token: environment['NATS_TOKEN'],
    tls: hasTlsFile || isTls ? { caFile, certFile, keyFile } : undefined,
  };
}

/** Parses and checks the arguments. Throws a {@link UsageError}. */
export function publishArguments(
  args: readonly string[],
  environment: Environment,
): PublishArguments {
  const text = { type: 'string' } as const;
  const texts = { type: 'string', multiple: true, default: [] as string[] } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...{ kind: texts, namespace: text, as: text, bucket: text, cluster: text, nats: texts },
      ...{ 'nats-creds': text, 'nats-user': text },
      ...{ 'nats-ca': text, 'nats-cert': text, 'nats-key': text },
      ...{ lease: text, 'lease-seconds': text, replicas: text },
      ...{ heartbeat: text, 'compare-every': text, 'keep-deletions': text },
      ...{ kubeconfig: text, context: text },
    },
  });
  for (const [name, value] of Object.entries(values)) {
    if (value !== '' || name === 'namespace') continue;
    throw new UsageError(`publish: --${name} is empty; give a value, or leave the option out`);
  }
  if (values.as !== undefined && values.as !== 'metadata') {
    throw new UsageError(`publish: --as is ${JSON.stringify(values.as)}; it must be metadata`);
  }
  return {
    kinds: kindsOf(values.kind),
    namespace: namespaceOf(values.namespace),
    metadataOnly: values.as === 'metadata',
    nats: natsOf(values, environment),
    bucket: bucketOf(values.bucket ?? 'k8s'),
    cluster: values.cluster,
    lease: leaseOf(values.lease, values['lease-seconds']),
    replicas: replicasOf(values.replicas),
    heartbeatMs: millisecondsOf('heartbeat', values.heartbeat, 0.1),
    compareEveryMs: millisecondsOf('compare-every', values['compare-every']),
    tombstoneMs: millisecondsOf('keep-deletions', values['keep-deletions']),
    file: values.kubeconfig,
    context: values.context,
  };
}
