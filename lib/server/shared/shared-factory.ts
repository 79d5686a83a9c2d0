/** One factory for all users: informers that are held from the start, and sessions that see what their users may read. */
import type { SchedulerLike } from 'rxjs';
import { checkedFunction, checkedList, ifGiven } from '../../checks/checked-option.ts';
import { informersOfFactory } from '../../factory/factory-informers.ts';
import { UserRights } from '../rights/user-rights.ts';
import { boundedReport } from '../users/bounded-report.ts';
import type { ServeOptions, ServeSharedOptions } from '../users/serve-options.ts';
import { UserEdits } from '../users/user-edits.ts';
import type { UserInformers } from '../users/user-session.ts';
import { HeldQueries } from './held-queries.ts';
import { NamedQueries } from './named-queries.ts';
import { Positions } from './positions.ts';
import { SharedSession } from './shared-session.ts';

/** What users share. */
type SharedFactoryOptions = Omit<ServeSharedOptions, keyof ServeOptions>;

/** What the server gives. */
export interface SharedSurroundings {
  readonly scheduler: SchedulerLike;
  readonly random: () => number;
  readonly lingerMs: number;
  readonly mostPipelines: number;
  report(error: unknown): void;
}

/** How many different errors of the rights of one user the program is told in a minute. */
const MOST_TEXTS = 10;

/** Holds the informers. Throws a `TypeError` on an invalid option. */
export function sharedFactory(
  { factory, kinds, rights, queries = {}, edits, onDecision, sharedSecret }: SharedFactoryOptions,
  { scheduler, random, lingerMs, mostPipelines, report }: SharedSurroundings,
): UserInformers {
  const informers = informersOfFactory('serveUsers', factory);
  if (informers.isOverClusters === true) {
    throw new TypeError('serveUsers: factory has several clusters; give one of one cluster');
  }
  if (informers.hasFallback === true) {
    throw new TypeError(
      'serveUsers: factory has a namespaceFallback, so it may lack what users may read; leave it out, and let the client of the server list all namespaces',
    );
  }
  checkedList(kinds, 'serveUsers: kinds', 'a list of kinds, such as pods of rx-informer/resources');
  checkedFunction(rights, 'serveUsers: rights', "(user, kind) => 'all' or namespaces");
  ifGiven(checkedFunction, edits, 'serveUsers: edits', '(user) => a client of the user');
  ifGiven(checkedFunction, onDecision, 'serveUsers: onDecision');
  const positions = sharedSecret === undefined ? undefined : new Positions(sharedSecret);
  const held = new HeldQueries(informers, kinds, lingerMs);
  const named = new NamedQueries({ held, queries, lingerMs, scheduler, report });
  return {
    begin: (user, beginning) => {
      const bounded = boundedReport(report, MOST_TEXTS, scheduler);
      const parts = { user, rights, scheduler, random, onDecision, report: bounded };
      const own = new UserRights(parts);
      return new SharedSession({
        ...{ ...beginning, held, named, rights: own, lingerMs, mostPipelines, report },
        ...{ scheduler, positions },
        edits: edits && new UserEdits({ client: () => edits(user), scheduler, report: bounded }),
      });
    },
    end: () => held.end(),
  };
}
