/** A view of a query that a tab asks. */
import { RemoteView, type RemoteViewParts } from '../../wire/remote-view.ts';
import type { CarriedQuery } from '../carried-query.ts';

export class AskedView extends RemoteView {
  readonly query: CarriedQuery;
  /** The number by which the tab asks it. */
  id: number | undefined;

  constructor(query: CarriedQuery, parts: RemoteViewParts) {
    super(parts);
    this.query = query;
  }
}
