/** What the text of the jump means: kinds by their names and those of kubectl, and a search for objects. */
import type { Kind } from '../kinds/kind.ts';

type Groups = readonly { readonly kinds: readonly Kind[] }[];

const shortNames: Readonly<Record<string, string>> = {
  ...{ po: 'pods', deploy: 'deployments', rs: 'replicasets', sts: 'statefulsets' },
  ...{ ds: 'daemonsets', no: 'nodes', ns: 'namespaces', quota: 'quotas', svc: 'services' },
  ...{ cm: 'configmaps', ev: 'events', cj: 'cronjobs', hpa: 'autoscalers', ing: 'ingresses' },
  pvc: 'claims',
};

const LEAST = 2;

function shownIn(groups: Groups, isWholeCluster: boolean): readonly Kind[] {
  const all = groups.flatMap(({ kinds }) => kinds);
  return all.filter(({ resource }) => isWholeCluster || resource.namespaced);
}

const wordsOf = (text: string) => text.trim().replace(/^:/, '').toLowerCase().split(/\s+/);

/** The names of a kind, in lower case: `pods`, `pod`, `po`. */
function namesOf({ id, title, resource, shortNames: own = [] }: Kind): readonly string[] {
  const short = Object.keys(shortNames).filter((name) => shortNames[name] === id);
  return [title.toLowerCase(), id, resource.plural, resource.kind.toLowerCase(), ...short, ...own];
}

const isNamed = (kind: Kind, word: string) => !kind.isTree && namesOf(kind).includes(word);

/** The kinds that a text may mean; all of them if there is no text. */
export function kindsFor(text: string, groups: Groups, isWholeCluster: boolean): readonly Kind[] {
  const [word = '', ...more] = wordsOf(text);
  if (more.length > 0) return [];
  return shownIn(groups, isWholeCluster)
    .filter((kind) => namesOf(kind).some((name) => name.includes(word)))
    .sort((one, other) => Number(isNamed(other, word)) - Number(isNamed(one, word)));
}

/** What a text asks for: words in names, of all kinds or of one that precedes them, as in `deploy checkout`. */
export interface Asked {
  readonly words: readonly string[];
  readonly kinds: readonly Kind[];
}

/** The objects that a text asks for; `undefined` if it is too short. */
export function searchOf(text: string, groups: Groups, isWholeCluster: boolean): Asked | undefined {
  const [first = '', ...rest] = wordsOf(text);
  const named = namedKinds(groups, isWholeCluster);
  const kind = rest.length === 0 ? undefined : named.find((each) => isNamed(each, first));
  if (kind !== undefined) return { words: rest, kinds: [kind] };
  const words = [first, ...rest];
  return words.join('').length < LEAST ? undefined : { words, kinds: named };
}

/** The kinds whose objects have names of their own. The tree consists of other kinds. */
export function namedKinds(groups: Groups, isWholeCluster: boolean): readonly Kind[] {
  return shownIn(groups, isWholeCluster).filter(({ id, isTree }) => !isTree && id !== 'events');
}
