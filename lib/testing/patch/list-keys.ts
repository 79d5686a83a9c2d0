/**
 * The keys by which the lists of built-in objects merge. The types of Kubernetes declare them in tags
 * (`patchMergeKey`, `listMapKey`); this file lists the common ones by path.
 */

/** Lists of scalar values that merge as a set. */
const SETS = /^(metadata\.finalizers|spec\.podCIDRs)$/;

type KeysByPath = readonly (readonly [RegExp, string, (readonly string[])?])[];

function keysByPath(): KeysByPath {
  const POD = '(?:.*\\.)?spec';
  const CONTAINER = `${POD}\\.(?:containers|initContainers|ephemeralContainers)`;
  return [
    [new RegExp(`^${CONTAINER}$`), 'name'],
    [new RegExp(`^${CONTAINER}\\.env$`), 'name'],
    [new RegExp(`^${CONTAINER}\\.ports$`), 'containerPort', ['containerPort', 'protocol']],
    [new RegExp(`^${CONTAINER}\\.volumeMounts$`), 'mountPath'],
    [new RegExp(`^${CONTAINER}\\.volumeDevices$`), 'devicePath'],
    [new RegExp(`^${POD}\\.(volumes|imagePullSecrets|schedulingGates|resourceClaims)$`), 'name'],
    [new RegExp(`^${POD}\\.hostAliases$`), 'ip'],
    [
      new RegExp(`^${POD}\\.topologySpreadConstraints$`),
      'topologyKey',
      ['topologyKey', 'whenUnsatisfiable'],
    ],
    [/^spec\.ports$/, 'port', ['port', 'protocol']],
    [/^secrets$/, 'name'],
    [/^status\.(conditions|addresses)$/, 'type'],
    [/^status\.(podIPs|hostIPs)$/, 'ip'],
  ];
}

/** By path: the key of a strategic merge patch, and the keys of an apply if they differ. */
const MAPS = /* @__PURE__ */ keysByPath();
const OWNERS = 'metadata.ownerReferences';

/** Whether the values of the list at a path (`metadata.finalizers`) merge as a set. */
export function isSet(path: string): boolean {
  return SETS.test(path);
}

/** The key by which a strategic merge patch merges the list at a path. `undefined` means that it replaces the list. */
export function patchMergeKey(path: string): string | undefined {
  if (path === OWNERS) return 'uid';
  return MAPS.find(([pattern]) => pattern.test(path))?.[1];
}

/** The keys by which an apply merges the list at a path. In custom objects only lists in the metadata have keys. */
export function applyKeys(path: string, custom: boolean): readonly string[] | undefined {
  if (path === OWNERS) return ['uid'];
  const found = custom ? undefined : MAPS.find(([pattern]) => pattern.test(path));
  return found && (found[2] ?? [found[1]]);
}
