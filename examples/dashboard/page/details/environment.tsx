/** The environment of a container: its variables, and the objects whose keys are variables. */
import { Fragment, type ReactNode } from 'react';
import type { Container, EnvVar } from 'rx-informer/resources';
import { reference } from './object-link.tsx';

/** A ConfigMap or a Secret: a link if the page shows its kind. */
function linkTo(kind: string, name: string | undefined, namespace: string): ReactNode {
  return reference({ kind, namespace, ...(name === undefined ? {} : { name }) }, ' ');
}

/** Where the value of a variable comes from. The values of ConfigMaps and Secrets are not requested. */
function sourceOf({ value = '', valueFrom }: EnvVar, namespace: string): ReactNode {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef } = valueFrom ?? {};
  if (fieldRef) return `field ${fieldRef.fieldPath}`;
  if (resourceFieldRef) return `resource ${resourceFieldRef.resource}`;
  const [kind, ref] = configMapKeyRef ? ['ConfigMap', configMapKeyRef] : ['Secret', secretKeyRef];
  if (ref === undefined) return value || '(empty)';
  return (
    <>
      key {ref.key} of {linkTo(String(kind), ref.name, namespace)}
    </>
  );
}

export function environmentOf(
  { env = [], envFrom = [] }: Container,
  namespace: string,
): Readonly<Record<string, ReactNode>> {
  const imports = new Map<string, ReactNode[]>();
  for (const { prefix = '', configMapRef, secretRef } of envFrom) {
    const name = prefix === '' ? 'Further variables' : `Variables ${prefix}…`;
    const [kind, ref] = configMapRef ? ['ConfigMap', configMapRef] : ['Secret', secretRef];
    const known = imports.get(name) ?? [];
    imports.set(name, [
      ...known,
      <Fragment key={known.length}>
        {known.length > 0 && ', '}all keys of {linkTo(String(kind), ref?.name, namespace)}
      </Fragment>,
    ]);
  }
  return Object.fromEntries([
    ...env.map((each): [string, ReactNode] => [each.name, sourceOf(each, namespace)]),
    ...imports,
  ]);
}
