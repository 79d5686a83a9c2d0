/** The filter box: words, label selectors (`app=web`, `tier in (a, b)`) and field selectors (`spec.nodeName=node-1`). */
import { parseFieldSelector, parseLabelSelector } from 'rx-informer';
import type { Row } from '../kinds/kind.ts';

export interface ParsedFilter {
  /** In lower case. A row must contain all of them, in any order. */
  readonly words: readonly string[];
  readonly labelSelector: string;
  readonly fieldSelector: string;
  /** Why a selector is not valid, in the words of the library. */
  readonly problem?: string;
}

/** A term with `in (…)`, or everything up to the next space. */
const TERM = /[^\s()]+\s+(?:not)?in\s*\([^)]*\)|\S+/g;
/** A path begins with one of these fields of an object. A name without a dot may be that of a label. */
const FIELD = /^(metadata|spec|status|involvedObject)\.[\w.]+(=|==|!=)/;
/** The fields of Events, which have few labels. */
const FIELD_OF_EVENTS = /^(type|reason)(=|==|!=)/;
const LABEL = /[=()]|^!\w/;

/**
 * Reads the text of the filter box of a kind. A selector that is not valid selects nothing and is reported. As for kubectl,
 * `type=web` selects by a label.
 */
export function parseFilter(text: string, kind = ''): ParsedFilter {
  const terms = text.match(TERM) ?? [];
  const isField = (term: string) =>
    FIELD.test(term) || (kind === 'events' && FIELD_OF_EVENTS.test(term));
  const fields = terms.filter(isField);
  const labels = terms.filter((term) => !isField(term) && LABEL.test(term));
  const words = terms.filter((term) => !isField(term) && !LABEL.test(term));
  try {
    return {
      words: words.map((word) => word.toLowerCase()),
      labelSelector: parseLabelSelector(labels.join(',')).toString(),
      fieldSelector: parseFieldSelector(fields.join(',')).toString(),
    };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return { words: [], labelSelector: '', fieldSelector: '', problem };
  }
}

export function testOf(words: readonly string[]): (row: Row) => boolean {
  return ({ text }) => words.every((word) => text.includes(word));
}
