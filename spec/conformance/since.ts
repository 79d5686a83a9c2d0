/**
 * What servers do only since a version of Kubernetes: the titles of tests, which are skipped for older servers. Most
 * differences are words of errors. The fake server does what the newest version does.
 */
export const SINCE: Readonly<Record<number, readonly string[]>> = {
  34: [
    'a POST refuses values of dryRun other than All',
    'a PUT refuses values of dryRun other than All',
    'a PATCH refuses values of dryRun other than All',
    'a DELETE refuses values of dryRun other than All',
    'a watch ends cleanly after timeoutSeconds, with a bookmark shortly before',
    'a watch can send metadata, also in its bookmarks',
    'only the first event of a watch contains the columns',
    'a watch with sendInitialEvents streams the list',
    'a watch without a version that allows bookmarks sends an end mark after the existing objects',
    'a watch with sendInitialEvents sends a list, an end mark, then later events',
  ],
  35: [
    'a label with a value of few characters and many bytes is refused, in a new object and in an update',
  ],
  36: [
    'a label with a long key is refused, in a new object and in an update',
    'a label with a long value is refused, in a new object and in an update',
    'a label with two prefixes is refused, in a new object and in an update',
    'services have rules for names: a.b',
    'a table of pods shows the state of each as kubectl prints it',
  ],
  37: [
    'an empty owner is refused, in a new object and in an update',
    'an Event as an owner is refused, in a new object and in an update',
    'an owner with an invalid apiVersion is refused, in a new object and in an update',
    'a patch of any type whose body is not JSON is refused',
  ],
};

/** The version since which a test holds; `undefined` if it holds for all. */
export function sinceOf(title: string): number | undefined {
  const found = Object.entries(SINCE).find(([, titles]) => titles.includes(title));
  return found === undefined ? undefined : Number(found[0]);
}
