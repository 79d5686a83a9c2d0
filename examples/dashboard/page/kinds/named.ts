/** The objects that messages name. */
/** Where messages name objects, and of which kinds these are. */
const NAMED =
  /(?<=\b(?:(service|persistentvolumeclaim|configmap|secret|replicaset|node) (?=")|(exceeded quota:|last job|of pod) ))("?[a-z0-9][a-z0-9.-]*[a-z0-9]"?)/gi;

const kinds: Readonly<Record<string, string>> = {
  ...{ service: 'Service', persistentvolumeclaim: 'PersistentVolumeClaim', secret: 'Secret' },
  ...{ configmap: 'ConfigMap', replicaset: 'ReplicaSet', node: 'Node', 'of pod': 'Pod' },
  ...{ 'exceeded quota:': 'ResourceQuota', 'last job': 'Job' },
};

/** The namespace of the Service of a webhook, which is in its address. */
const SERVED = /https:\/\/([a-z0-9-]+)\.([a-z0-9-]+)\.svc\b/;

interface Named {
  readonly text: string;
  /** What the text names; absent if it names nothing. */
  readonly of?: { readonly kind: string; readonly name: string; readonly namespace: string };
}

/** The parts of a message: plain text, and names of objects. `whole` is the message before it was shortened. */
export function namedIn(message: string, namespace: string, whole = message): readonly Named[] {
  const [, served, elsewhere = ''] = SERVED.exec(whole) ?? [];
  const parts: Named[] = [];
  let end = 0;
  for (const { 1: before, 2: word = before, 3: quoted = '', index } of message.matchAll(NAMED)) {
    const kind = kinds[word?.toLowerCase() ?? ''] ?? '';
    const name = quoted.replaceAll('"', '');
    const isServed = kind === 'Service' && name === served;
    const of = { kind, name, namespace: isServed ? elsewhere : namespace };
    parts.push({ text: message.slice(end, index) }, { text: quoted, of });
    end = index + quoted.length;
  }
  return [...parts, { text: message.slice(end) }];
}
