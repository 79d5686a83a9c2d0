/**
 * The access that the sample controller declares is enough for it, and without any single verb of it the sample does not work.
 */
import { type AccessRole, rolesFor } from 'rx-informer';
import { deployments, eventsV1Events } from 'rx-informer/resources';
import { type FakeApiServer, permittedBy } from 'rx-informer/testing';
import { expect, test } from 'vitest';
import { access } from '../../examples/sample-controller/access.ts';
import { installFoo } from '../../examples/sample-controller/crd.ts';
import { openDemoCluster, USER } from '../../examples/sample-controller/demo.ts';
import { foos } from '../../examples/sample-controller/foo.ts';
import { startSampleController } from '../../examples/sample-controller/sample-controller.ts';
import { eventually } from '../support/patience.ts';

/** A Foo whose Deployment belongs to another owner: each attempt to reconcile it repeats an Event. */
async function obstructed({ objects }: FakeApiServer): Promise<void> {
  const place = { namespace: 'default', name: 'taken' };
  const spec = { selector: {}, template: { spec: { containers: [] } } };
  objects.create(deployments, { metadata: place, spec });
  objects.create(foos, { metadata: place, spec: { deploymentName: 'taken', replicas: 1 } });
  await eventually(() =>
    expect(objects.list(eventsV1Events).some(({ series }) => series)).toBe(true),
  );
  objects.delete(foos, place);
  objects.delete(deployments, place);
}

/** Runs the scenario of the demo to its end, or to the first refusal, and returns the refusal. */
async function play(roles: readonly AccessRole[], watchList: boolean): Promise<string | undefined> {
  const permits = permittedBy(roles, { user: USER });
  let refuse = (_what: string) => {};
  const refused = new Promise<string>((resolve) => {
    refuse = resolve;
  });
  const cluster = openDemoCluster({
    watchList,
    allows(asked) {
      const isPermitted = permits(asked);
      const { verb, resource, subresource } = asked;
      if (!isPermitted) refuse(`${verb} ${[resource, subresource].filter(Boolean).join('/')}`);
      return isPermitted;
    },
  });
  const { faults } = cluster.server;
  const ended = new AbortController();
  const scenario = async () => {
    await installFoo(cluster.client, ended.signal);
    const sample = startSampleController(cluster.client, { identity: 'me', log: () => {} });
    try {
      // Other writers are faster once, so that the finalizer and an edit read the object again.
      for (const resource of [foos, deployments]) {
        faults.failNext(
          ({ method, path, resource: of }) =>
            method === 'PATCH' && of?.split('.')[0] === resource.plural && !/status$/.test(path),
          { status: 409, reason: 'Conflict' },
        );
      }
      const played = obstructed(cluster.server).then(() => cluster.play(() => {}));
      played.catch(() => {}); // after a refusal it does not end well
      await Promise.race([played, refused]);
    } finally {
      await sample.stop();
    }
    return undefined;
  };
  try {
    return await Promise.race([refused, scenario().then(() => Promise.race([refused, undefined]))]);
  } finally {
    ended.abort();
    await cluster.close();
  }
}

/** Each role without one verb of one resource. */
function* without(roles: readonly AccessRole[]) {
  for (const [at, role] of roles.entries()) {
    for (const [of, rule] of role.rules.entries()) {
      for (const resource of rule.resources) {
        for (const verb of rule.verbs) {
          const resources = rule.resources.filter((each) => each !== resource);
          const verbs = rule.verbs.filter((each) => each !== verb);
          const parts = [
            { ...rule, resources },
            { ...rule, resources: [resource], verbs },
          ];
          const rules = role.rules.toSpliced(of, 1, ...parts);
          yield { verb, resource, roles: roles.with(at, { ...role, rules }) };
        }
      }
    }
  }
}

const roles = rolesFor(access);

for (const watchList of [true, false]) {
  const server = watchList ? 'streams lists' : 'does not stream lists';
  test(`N40: the sample controller needs no more than the printed roles, with a server that ${server}`, async () => {
    expect(await play(roles, watchList)).toBeUndefined();
  });
}

const all = [...without(roles)];

test('N40: the roles have a verb for everything that the sample controller does', () => {
  expect(all.length).toBeGreaterThan(15);
});

test.each(all)(
  'N40: without $verb of $resource the sample controller does not work',
  async ({ verb, resource, roles: fewer }) => {
    // An informer needs `list` only where lists are not streamed.
    expect(await play(fewer, verb !== 'list')).toBe(`${verb} ${resource}`);
  },
);
