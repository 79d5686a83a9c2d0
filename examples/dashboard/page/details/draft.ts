/** A draft of an object as YAML: what the user sees, and the recipe of the write. */
import { ApiError, type KubernetesObject, type Resource, type Stored } from 'rx-informer';
import { parse, stringify } from 'yaml';
import { shownKinds } from '../../shared/kinds.ts';

type Fields = Record<string, unknown>;

/** Whether the proxy of the dashboard lets the page write objects of this kind. */
export function isEditable({ group, plural }: Resource<never>): boolean {
  return shownKinds.some((kind) => kind.group === group && kind.plural === plural && kind.editable);
}

/** An object as YAML, with its members in one order everywhere: what it is, what it should be, and how it is. */
export function yamlText(object: Stored<KubernetesObject>): string {
  const { apiVersion, kind, metadata, status, ...fields } = object as Stored<KubernetesObject> &
    Fields;
  const ordered = { apiVersion, kind, metadata, ...fields, status };
  return stringify(ordered, { lineWidth: 0 });
}

/** The text of a draft: without what belongs to the server. */
export function draftText(object: Stored<KubernetesObject>): string {
  const { status: _status, metadata, ...rest } = object as Stored<KubernetesObject> & Fields;
  const { resourceVersion: _v, generation: _g, managedFields: _m, ...named } = metadata;
  return yamlText({ ...rest, metadata: named } as Stored<KubernetesObject>);
}

/** The object of a text. Throws an error whose message names the line. */
export function readDraft(text: string): Fields {
  const value: unknown = parse(text);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw new Error('The text must be a YAML object with apiVersion, kind, metadata and so on.');
}

export interface Unsaved {
  /** The version that it began with. */
  readonly base: Stored<KubernetesObject>;
  readonly text: string;
}

const unsaved = new Map<string, Unsaved>();
const ask = (event: Event) => event.preventDefault();

/** The draft of an object that the user has left without saving it, whatever the page has shown since. */
export function unsavedOf({ metadata }: Stored<KubernetesObject>): Unsaved | undefined {
  return unsaved.get(metadata.uid);
}

/** Keeps the draft of an object until it is saved or discarded. Until then the browser asks before it leaves the page. */
export function keepUnsaved(draft: Unsaved): void {
  const { uid } = draft.base.metadata;
  if (draft.text === draftText(draft.base)) unsaved.delete(uid);
  else unsaved.set(uid, draft);
  if (unsaved.size > 0) window.addEventListener('beforeunload', ask);
  else window.removeEventListener('beforeunload', ask);
}

/** Sets the fields of a draft to those of the edited text; only fields that the text has shown are removed. */
function assign(draft: Fields, edited: Fields, shown: Fields): void {
  for (const name of Object.keys(shown)) if (!(name in edited)) delete draft[name];
  for (const [name, value] of Object.entries(edited)) {
    if (name === 'metadata') assign(draft[name] as Fields, value as Fields, shown[name] as Fields);
    else draft[name] = value;
  }
}

/**
 * The recipe that makes the edited text of an object. A text says what all of its fields are to be, so it may replace only
 * those that the user has seen; if another writer has changed one of them, the recipe throws a conflict. The status is not
 * in the text and changes all the time.
 */
export function recipeOf(object: Stored<KubernetesObject>, text: string): (draft: object) => void {
  const edited = readDraft(text);
  const before = draftText(object);
  const shown = readDraft(before);
  return (draft) => {
    if (draftText(draft as Stored<KubernetesObject>) !== before) {
      const message = `${object.metadata.name} has other fields than those that the draft began with`;
      throw new ApiError({ code: 409, reason: 'Conflict', message });
    }
    assign(draft as Fields, edited, shown);
  };
}
