/**
 * The layer between the informers and the queries of a provider or of a worker. Objects pass through it as they are, until the first
 * edit puts an overlay over them, so a page that edits nothing does not load the overlay.
 */
import { Observable } from 'rxjs';
import type { KubernetesObject, Stored } from '../../meta/kubernetes-object.ts';
import { inTurn } from '../../rx/drain.ts';
import { type ChangeSet, headOf } from '../../store/change-set.ts';
import type { Beyond, Layer } from '../queries/pipeline.ts';

type Objects = ChangeSet<KubernetesObject>;

/** One subscription to the objects of an informer, or of a value of an index. */
export interface EditableSource {
  /** The object that the source has under a key now, at the end of a turn. */
  find(key: string): Stored<KubernetesObject> | undefined;
  /** If the source has the objects of one value of an index. */
  readonly beyond: Beyond | undefined;
  /** Emits a set to the query. */
  emit(set: Objects): void;
  /** That of the latest set. */
  head: ReturnType<typeof headOf<KubernetesObject>> | undefined;
}

/** The overlay, which receives the sets of the sources. */
export interface SourceOverlay {
  joined(source: EditableSource): void;
  applied(source: EditableSource, set: Objects): void;
  left(source: EditableSource): void;
}

export class EditableLayer implements Layer {
  readonly #sources = new Set<EditableSource>();
  #overlay: SourceOverlay | undefined;

  /** Puts an overlay over the present sources and all later ones. */
  cover(overlay: SourceOverlay): void {
    this.#overlay = overlay;
    for (const source of this.#sources) overlay.joined(source);
  }

  pass(
    objects: Observable<Objects>,
    find: EditableSource['find'],
    beyond?: Beyond,
  ): Observable<Objects> {
    return new Observable<Objects>((subscriber) => {
      const emit = (set: Objects) => subscriber.next(set);
      const source: EditableSource = { find, beyond, emit, head: undefined };
      this.#sources.add(source);
      this.#overlay?.joined(source);
      subscriber.add(() => {
        this.#sources.delete(source);
        this.#overlay?.left(source);
      });
      const apply = (set: Objects) => {
        source.head = headOf(set);
        if (this.#overlay === undefined) emit(set);
        else this.#overlay.applied(source, set);
      };
      subscriber.add(
        objects.subscribe({
          next: (set) => inTurn(() => apply(set)),
          error: (error) => subscriber.error(error),
          complete: () => subscriber.complete(),
        }),
      );
    });
  }
}
