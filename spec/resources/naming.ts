/**
 * Chooses the generated names. One rule serves constants and types: if several group-versions have the same name, the
 * first in rank has the plain name, and the others put their group and version before it: `events` and
 * `eventsV1Events`, `HorizontalPodAutoscaler` and `AutoscalingV1HorizontalPodAutoscaler`. The types of objects rank
 * before the types of their parts.
 */

/** A group-version of the generated files: `core-v1`, `apps-v1`, `resource-v1beta1`. */
export interface GroupVersion {
  /** The first label of the group; `core` for ''; `meta` for the types that all groups share. */
  readonly label: string;
  readonly version: string;
  /** The position of the version within its group in the server's order of preference; 0 is the first. */
  readonly preference: number;
}

/** The groups that rank first. The others follow by name. */
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

/** Sorts group-versions by rank: the preferred versions of all groups precede all other versions. */
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

/** Returns the name of the file: `core-v1`. */
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
