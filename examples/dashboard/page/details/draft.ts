/** A draft of an object as YAML: what the user sees, and the recipe of the write. */
import { ApiError, type KubernetesObject, type Resource, type Stored } from 'rx-informer';
import { parse, stringify } from 'yaml';
import { shownKinds } from '../../shared/kinds.ts';

type Fields = Record<string, unknown>;

/** Whether the proxy of the dashboard lets the page write objects of this kind. */
export function isEditable({ group, plural }: Resource<never>): boolean {
  return shownKinds.some((kind) => kind.group === group && kind.plural === plural && kind.editable);
}

/** The text of a draft. The status belongs to the server, and its version is sent as a condition of the write. */
export function draftText(object: Stored<KubernetesObject>): string {
  const { status: _status, metadata, ...rest } = object as Stored<KubernetesObject> & Fields;
  const { resourceVersion: _version, generation: _generation, ...named } = metadata;
  const { apiVersion, kind, ...fields } = rest;
  return stringify({ apiVersion, kind, metadata: named, ...fields }, { lineWidth: 0 });
}

/** The object of a text. Throws an error whose message names the line. */
export function readDraft(text: string): Fields {
  const value: unknown = parse(text);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw new Error('The text must be a YAML object with apiVersion, kind, metadata and so on.');
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
 * The recipe that makes the edited text of an object. A text says what the complete object is to be, so it may replace
 * only the version that the user has seen; for a newer one the recipe throws a conflict.
 */
export function recipeOf(object: Stored<KubernetesObject>, text: string): (draft: object) => void {
  const edited = readDraft(text);
  const shown = readDraft(draftText(object));
  const { name, resourceVersion } = object.metadata;
  return (draft) => {
    if ((draft as KubernetesObject).metadata?.resourceVersion !== resourceVersion) {
      const message = `${name} has another version than the one that the draft began with`;
      throw new ApiError({ code: 409, reason: 'Conflict', message });
    }
    assign(draft as Fields, edited, shown);
  };
}
