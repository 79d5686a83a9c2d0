/** Creates kubeconfigs for tests. */

export const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** A kubeconfig with one context, as JSON, which is valid YAML. */
export function kubeconfig(cluster: object, user?: object): string {
  const name = 'dev';
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster }],
    users: user === undefined ? [] : [{ name, user }],
    contexts: [{ name, context: { cluster: name, ...(user === undefined ? {} : { user: name }) } }],
    'current-context': name,
  });
}
