/** The namespaces in which users are bound to roles. They are proposed to the API server, which decides. */
import { defer, firstValueFrom, type Observable } from 'rxjs';
import { filter, finalize, map, repeat, share, take, tap } from 'rxjs/operators';
import type { SharedInformer } from '../../informer/shared-informer.ts';
import type { KubernetesObject, Stored } from '../../meta/kubernetes-object.ts';
import { isResting } from '../../query/engine/informers.ts';
import type { ServedUser } from '../users/user.ts';

/** A subject of a binding. */
interface Subject {
  readonly kind?: string;
  readonly name?: string;
  readonly namespace?: string;
}

/** The part of a RoleBinding that is read. */
type RoleBinding = KubernetesObject & { readonly subjects?: readonly Subject[] | undefined };

/** An informer of RoleBindings. */
export type Bindings = Pick<
  SharedInformer<RoleBinding>,
  'indexer' | 'changes$' | 'status$' | 'hasSynced'
>;

/** Whether a change concerns a user. */
export type Concerns = (user: ServedUser) => boolean;

const keyOf = (kind: string, name: string) => `${kind}/${name}`;

/** The names by which bindings mean a user. */
function namesOf({ name, groups = [] }: ServedUser): readonly string[] {
  return [keyOf('User', name), ...groups.map((group) => keyOf('Group', group))];
}

function subjectsOf(binding: Stored<RoleBinding> | undefined): readonly string[] {
  return (binding?.subjects ?? []).map(({ kind = '', name = '', namespace = '' }) =>
    kind === 'ServiceAccount'
      ? keyOf('User', `system:serviceaccount:${namespace}:${name}`)
      : keyOf(kind, name),
  );
}

export class BoundNamespaces {
  readonly #bindings: Bindings;
  #isFollowed = false;
  /** The namespaces by subject. */
  #bySubject: Map<string, Set<string>> | undefined;
  /** Emits whom a changed binding concerns. */
  readonly changes$: Observable<Concerns>;

  constructor(bindings: Bindings, onChange: (concerns: Concerns) => void) {
    this.#bindings = bindings;
    const running$ = bindings.status$.pipe(filter((status) => !isResting(status)));
    this.changes$ = defer(() => {
      this.#isFollowed = true;
      // What was answered while nobody followed the changes may have changed.
      onChange(() => true);
      return bindings.changes$;
    }).pipe(
      // The stream of an informer completes with its stop.
      repeat({ delay: () => running$.pipe(take(1)) }),
      tap(() => {
        this.#bySubject = undefined;
      }),
      // What there is at the beginning is read with the first question.
      filter(({ reset, changes }, at) => (reset ? at > 0 : changes.length > 0)),
      map(({ reset, changes }): Concerns => {
        // Those whose binding is gone are not among the changes.
        if (reset) return () => true;
        const concerned = new Set(
          changes.flatMap(({ previous, object }) => [
            ...subjectsOf(previous),
            ...subjectsOf(object),
          ]),
        );
        return (user) => namesOf(user).some((name) => concerned.has(name));
      }),
      tap(onChange),
      finalize(() => {
        this.#isFollowed = false;
      }),
      share(),
    );
  }

  /** The namespaces of a user, in order, as soon as all bindings are known. */
  async of(user: ServedUser): Promise<readonly string[]> {
    const { hasSynced, status$ } = this.#bindings;
    if (!hasSynced) await firstValueFrom(status$.pipe(filter(({ synced }) => synced)));
    const bySubject = this.#subjects();
    const all = namesOf(user).flatMap((name) => [...(bySubject.get(name) ?? [])]);
    return [...new Set(all)].sort();
  }

  #subjects(): Map<string, Set<string>> {
    if (this.#isFollowed && this.#bySubject !== undefined) return this.#bySubject;
    const bySubject = new Map<string, Set<string>>();
    for (const binding of this.#bindings.indexer.list()) {
      for (const subject of subjectsOf(binding)) {
        const namespaces = bySubject.get(subject) ?? new Set();
        bySubject.set(subject, namespaces.add(binding.metadata?.namespace ?? ''));
      }
    }
    this.#bySubject = bySubject;
    return bySubject;
  }
}
