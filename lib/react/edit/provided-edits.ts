/** What edits add to a provider, as parts of it. */
import { EditableLayer } from '../../factory/edits/editable-layer.ts';
import { Overlay } from '../../factory/edits/overlay.ts';
import type { Provided } from '../provided.ts';

/** The layer between the informers and the queries. */
export function editableLayerOf(_provided: Provided): EditableLayer {
  return new EditableLayer();
}

/** The drafts that the queries show. */
export function overlayOf(provided: Provided): Overlay {
  const overlay = new Overlay();
  provided.part(editableLayerOf).cover(overlay);
  return overlay;
}
