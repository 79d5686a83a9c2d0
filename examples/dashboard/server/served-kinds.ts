/** The kinds that discovery finds beside those that the page knows. They are only read, and Secrets never as a list. */
import { createDiscovery, type DiscoveredResource, type KubeClient } from 'rx-informer';
import { rootOf, type ServedKind, type ShownKind, shownKinds } from '../shared/kinds.ts';

const shown = new Set(shownKinds.map(({ group, plural }) => `${plural}.${group}`));

/** What a page would show twice, or cannot follow. */
function isOther({ group, plural, verbs }: DiscoveredResource): boolean {
  const isFollowed = verbs.includes('list') && verbs.includes('watch');
  return isFollowed && !shown.has(`${plural}.${group}`) && group !== 'events.k8s.io';
}

/** The other kinds of a cluster, by the path of their collection. */
export class ServedKinds {
  readonly byPath: Map<string, ShownKind> = new Map();
  readonly #discovery;

  constructor(client: KubeClient) {
    this.#discovery = createDiscovery(client);
  }

  /** Asks the cluster again. Of several versions of a kind, the preferred one is shown. */
  async refresh(): Promise<readonly ServedKind[]> {
    const { resources } = await this.#discovery.served();
    const names = new Set<string>();
    const kinds = resources.filter(isOther).filter(({ group, plural }) => {
      const isNew = !names.has(`${plural}.${group}`);
      names.add(`${plural}.${group}`);
      return isNew;
    });
    return kinds.map(({ group, version, plural, kind, namespaced, shortNames }) => {
      const hidden = group === '' && plural === 'secrets' && { listsMetadataOnly: true as const };
      const served = { group, version, plural, kind, namespaced };
      this.byPath.set(`${rootOf(served)}/${plural}`, { ...served, editable: false, ...hidden });
      return { ...served, shortNames };
    });
  }
}
