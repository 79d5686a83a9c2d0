/** The options for lists and watches in a page. */
import type { SchedulerLike } from 'rxjs';

/** How lists and watches share the connections of a browser, and what happens to them in a hidden tab. */
export interface StreamOptions {
  /**
   * How many lists and watches may be open at the same time; the others take turns. In a page the limit holds for all
   * tabs of the page's origin together if the browser has Web Locks (which need HTTPS or localhost), otherwise for the
   * page. Outside of browsers it holds for the client. Infinity means no limit.
   * @defaultValue 4 in a browser, unless it is known to use HTTP/2 or HTTP/3; otherwise no limit
   */
  readonly maxStreams?: number | undefined;
  /**
   * How long lists and watches stay open after the tab was hidden, in milliseconds. Then they are closed, and resume
   * from the last version when the tab is shown. A page that is left or frozen closes them immediately. Infinity keeps
   * them open in a hidden tab. @defaultValue 60000
   */
  readonly hiddenGraceMs?: number | undefined;
  /** The scheduler of the turns. @defaultValue rxjs's `asyncScheduler` */
  readonly scheduler?: SchedulerLike | undefined;
}
