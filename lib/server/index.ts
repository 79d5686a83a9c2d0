/** Live queries that a server answers for many users, and pages that ask it. */

export { type ConnectServerOptions, connectServer } from './page/connect-server.ts';
export { type ShareServerOptions, shareServer } from './relay/share-server.ts';
export { type AccessReviewsOptions, accessReviews } from './rights/access-reviews.ts';
export type {
  AskedRights,
  PermittedNamespaces,
  Rights,
  RightsDecision,
} from './rights/rights.ts';
export type { SharedQueriesByName, SharedQuery } from './shared/shared-query.ts';
export { type SocketEnd, type SocketLike, socketPort, type UserPort } from './socket-port.ts';
export type { ServeUsersLimits } from './users/limits.ts';
export type {
  ServeFactoriesOptions,
  ServeOptions,
  ServeSharedOptions,
  ServeUsersOptions,
} from './users/serve-options.ts';
export {
  type ConnectUserOptions,
  type ServedUsers,
  serveUsers,
  type UsersCounts,
} from './users/serve-users.ts';
export { type TokenReviewsOptions, tokenReviews } from './users/token-reviews.ts';
export type { ServedUser, SignIn } from './users/user.ts';
