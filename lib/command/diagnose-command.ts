/// <reference types="node" />
/** `rx-informer diagnose`: a diagnosis of the cluster of a kubeconfig, as text or JSON. */
import { parseArgs } from 'node:util';
import { createDiscovery } from '../client/discovery.ts';
import { createRestMapper } from '../client/rest-mapper.ts';
import { type Diagnosis, diagnose } from '../diagnose/diagnose.ts';
import type { Observations } from '../diagnose/observations.ts';
import type { Resource } from '../meta/resource.ts';
import type { KubeClient } from '../transport/kube-client.ts';
import { CLUSTER_PACKAGES, type Command, type CommandStreams, UsageError } from './subcommand.ts';

const USAGE = `Usage: rx-informer diagnose [options]

Says why informers do not work with the cluster of a kubeconfig, or not as well as they could, and what to do. Sends a few
small requests, and changes nothing.

  --kubeconfig <path>  the kubeconfig to use (default: as for kubectl)
  --context <name>     the context to use (default: the current context)
  --namespace <name>   the namespace in which rights are checked (default: all)
  --kind <name>        a kind whose rights are checked, as for kubectl: pods, deployments.apps; can be given several
                       times (default: pods)
  --seconds <n>        how long a watch is observed (default: 5). A proxy with a time limit is found only if its limit is
                       shorter: 330 shows one of five minutes
  --report             also prints a report for a bug, without names of objects, namespaces, hosts and custom resources
  --names              the report contains these names. It never contains credentials
  --json               prints JSON
  --help               show this help

The exit code is 1 if there is a finding of the severity error, 2 if the arguments are wrong.
`;

async function resourcesOf(
  client: KubeClient,
  kinds: readonly string[],
): Promise<readonly Resource[] | undefined> {
  if (kinds.length === 0) return undefined;
  const mapper = createRestMapper(createDiscovery(client));
  return Promise.all(kinds.map((kind) => mapper.forPlural(kind)));
}

function secondsOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const seconds = Number(text);
  if (Number.isInteger(seconds) && seconds >= 1 && seconds <= 3_600) return seconds;
  throw new UsageError(
    `diagnose: --seconds is ${JSON.stringify(text)}; it must be a whole number from 1 to 3600`,
  );
}

/** Of a time to come or in the past. */
const duration = (ms: number) => {
  const minutes = Math.round(Math.abs(ms) / 60_000);
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
};

function credentialsLine({ facts, atMs }: Observations): string {
  const { credentials } = facts;
  if (credentials === undefined) return 'unknown';
  const { kind, issuedAtMs, expiresAtMs, renews } = credentials;
  const parts = [kind === 'none' ? 'none are sent' : kind];
  if (issuedAtMs !== undefined) parts.push(`issued ${duration(atMs - issuedAtMs)} ago`);
  if (expiresAtMs !== undefined) {
    const left = expiresAtMs - atMs;
    parts.push(left > 0 ? `valid for ${duration(left)} more` : `expired ${duration(left)} ago`);
  }
  if (renews) parts.push('renewed by themselves');
  return parts.join(', ');
}

/** What was seen, in one line per subject. */
function seenLines(observations: Observations): string[] {
  const { reach, facts, rights, lists, streamed } = observations;
  const { version = 'no version', protocol = 'unknown protocol', tookMs } = reach;
  const took = tookMs === undefined ? 'no response' : `answered in ${tookMs} ms`;
  const lines = [
    `server       ${[version, protocol, facts.tls ?? 'no TLS seen', took].join(', ')}`,
    `credentials  ${credentialsLine(observations)}`,
  ];
  for (const { resource, namespace, verb, allowed } of rights) {
    const where = namespace === '' ? 'all namespaces' : namespace;
    const is = { true: 'yes', false: 'no', undefined: 'unknown' }[String(allowed)];
    lines.push(`right        ${verb} ${resource} in ${where}: ${is}`);
  }
  for (const { resource, encoding = 'not compressed' } of lists) {
    lines.push(`list         ${resource}: ${encoding}`);
  }
  if (streamed !== undefined) {
    const { resource, bookmarkMs, endMs, ended } = streamed;
    const first = bookmarkMs === undefined ? 'no bookmark' : `a bookmark after ${bookmarkMs} ms`;
    lines.push(`watch        ${resource}: ${first}, ended ${ended} after ${endMs} ms`);
  }
  return lines;
}

function textOf({ findings, observations, report }: Diagnosis, server: string): string {
  const lines = [server, ...seenLines(observations).map((line) => `  ${line}`), ''];
  for (const { code, severity, seen, advice } of findings) {
    lines.push(`${severity} ${code}: ${seen}`, `  ${advice}`, `  rx-informer explain ${code}`, '');
  }
  if (findings.length === 0) lines.push('Nothing is wrong.', '');
  if (report !== undefined) lines.push(JSON.stringify(report, undefined, 2), '');
  return lines.join('\n');
}

async function run(args: readonly string[], streams: CommandStreams): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      kubeconfig: { type: 'string' },
      context: { type: 'string' },
      namespace: { type: 'string' },
      kind: { type: 'string', multiple: true, default: [] },
      seconds: { type: 'string' },
      report: { type: 'boolean', default: false },
      names: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  });
  const watchSeconds = secondsOf(values.seconds);
  const { clientFromKubeConfig } = await import('../node/kube-config.ts');
  const { inspectKubeConfig } = await import('../node/inspect-kube-config.ts');
  const source = { file: values.kubeconfig, context: values.context };
  const client = await clientFromKubeConfig(source);
  try {
    const kinds = values.kind.flatMap((names) => names.split(','));
    const diagnosis = await diagnose(client, {
      ...{ watchSeconds, namespace: values.namespace, inspect: inspectKubeConfig(source) },
      resources: await resourcesOf(client, kinds),
      report: values.names ? 'with-names' : values.report,
    });
    const { findings } = diagnosis;
    streams.out(
      values.json
        ? `${JSON.stringify(diagnosis, undefined, 2)}\n`
        : textOf(diagnosis, client.baseUrl),
    );
    const errors = findings.filter(({ severity }) => severity === 'error').length;
    if (errors > 0) throw new Error(`diagnose: ${errors} of the findings must be corrected`);
  } finally {
    await client.close();
  }
}

/** `rx-informer diagnose`. */
export const diagnoseCommand: Command = { usage: USAGE, packages: () => CLUSTER_PACKAGES, run };
