/// <reference types="node" />
/**
 * Reads the service account of a pod. client-go: rest/config.go, InClusterConfig.
 */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { shownText } from '../meta/shown-text.ts';
import type { FullCluster } from './exec-plugin.ts';
import type { Sections } from './kube-config-sections.ts';

const TOKEN_FILE = '/var/run/secrets/kubernetes.io/serviceaccount/token';
const CA_FILE = '/var/run/secrets/kubernetes.io/serviceaccount/ca.crt';
const CONTEXT = { name: 'inClusterContext', cluster: 'inCluster', user: 'inClusterUser' };

/** Returns why this process cannot use a service account, or `undefined` if it can. */
export function noServiceAccount(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env;
  const isMounted = existsSync(TOKEN_FILE);
  if (host && port) {
    return isMounted
      ? undefined
      : `this pod has no service account: ${TOKEN_FILE} does not exist (automountServiceAccountToken)`;
  }
  return isMounted
    ? 'this pod has a service account, but KUBERNETES_SERVICE_HOST or KUBERNETES_SERVICE_PORT is not set'
    : 'this process is not in a pod';
}

/** Whether there is a CA. As in client-go, the CAs of the system are used otherwise. */
async function hasCa(): Promise<boolean> {
  let why = 'it has no certificate';
  try {
    if ((await readFile(CA_FILE, 'utf8')).includes('-----BEGIN CERTIFICATE-----')) return true;
  } catch (error) {
    ({ code: why = 'no access' } = error as NodeJS.ErrnoException);
  }
  console.warn(
    shownText(
      `clientFromKubeConfig: the CA of the service account cannot be used (${CA_FILE}: ${why}), so the CAs that Node trusts are used`,
    ),
  );
  return false;
}

/** Reads the address of the API server, and which files the pod has. Call this only if there is a service account. */
export async function serviceAccount(env: NodeJS.ProcessEnv = process.env): Promise<Sections> {
  const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port } = env;
  const address = host.includes(':') ? `[${host}]` : host;
  const cluster: FullCluster = {
    name: CONTEXT.cluster,
    server: `https://${address}:${port}`,
    skipTLSVerify: false,
    ...((await hasCa()) ? { caFile: CA_FILE } : {}),
  };
  return {
    clusters: [cluster],
    users: [{ name: CONTEXT.user, tokenFile: TOKEN_FILE }],
    contexts: [CONTEXT],
    currentContext: CONTEXT.name,
  };
}
