/**
 * How generated names are chosen. One rule serves constants and types: where several group-versions have the
 * same name, the first in rank keeps it plain and the others carry their group and version in front:
 * `events` and `eventsV1Events`, `HorizontalPodAutoscaler` and `AutoscalingV1HorizontalPodAutoscaler`. Types
 * of objects come before the types of their parts.
 */

/** A group-version as the generated files know it: `core-v1`, `apps-v1`, `resource-v1beta1`. */
export interface GroupVersion {
  /** The first label of the group; `core` for ''; `meta` for what all share. */
  readonly label: string;
  readonly version: string;
  /** Place of the version within its group as the server prefers them, 0 first. */
  readonly preference: number;
}

/** Groups whose plain names come first; the others follow by name. */
const wellKnown = [
  'meta',
  'core',
  'apps',
  'batch',
  'networking',
  'policy',
  'rbac',
  'autoscaling',
  'storage',
];

/** Orders group-versions by rank: preferred versions of all groups before any other version. */
export function byRank(a: GroupVersion, b: GroupVersion): number {
  const place = (label: string) => {
    const index = wellKnown.indexOf(label);
    return index < 0 ? wellKnown.length : index;
  };
  return (
    a.preference - b.preference ||
    place(a.label) - place(b.label) ||
    (a.label < b.label ? -1 : a.label > b.label ? 1 : 0)
  );
}

/** `core-v1`, the name of the file. */
export function fileName({ label, version }: GroupVersion): string {
  return `${label}-${version}`;
}

/** `HorizontalPodAutoscaler` of autoscaling/v1 → `AutoscalingV1HorizontalPodAutoscaler`. */
export function qualifiedType({ label, version }: GroupVersion, name: string): string {
  return upperFirst(label) + upperFirst(version) + name;
}

/** `events` of events.k8s.io/v1 → `eventsV1Events`. */
export function qualifiedConstant({ label, version }: GroupVersion, name: string): string {
  return label + upperFirst(version) + upperFirst(name);
}

/** The plural in camel case: ConfigMap, configmaps → `configMaps`; NetworkPolicy → `networkPolicies`. */
export function constantName(kind: string, plural: string): string {
  // CSIDriver → csiDriver, APIService → apiService, Pod → pod.
  const camel = kind.replace(/^[A-Z]+(?=[A-Z][a-z])|^[A-Z]+/, (capitals) => capitals.toLowerCase());
  let shared = 0;
  while (shared < camel.length && camel[shared]?.toLowerCase() === plural[shared]) shared++;
  return camel.slice(0, shared) + plural.slice(shared);
}

function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
