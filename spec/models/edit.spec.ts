/**
 * Model test of edits: several editors and other writers of one object, in any order of requests, compared with writing one after
 * another. Whenever the server accepts a patch, the result must be what that editor's recipe makes of the current object.
 */

import { createClient, createResourceClient, type OwnerReference } from 'rx-informer';
import { type Pod, pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import * as fc from '../support/fast-check.ts';

const TARGET = { namespace: 'shop', name: 'web' };

type Recipe = (pod: Pod) => void;
/** The change that a writer intends; the number makes new values distinct. */
type Intent = readonly [kind: keyof typeof INTENTS, other: number];

const finalizer = (id: number) => `example.com/f${id}`;
const owner = (id: number): OwnerReference => {
  const name = `o${id}`;
  return { apiVersion: 'v1', kind: 'ConfigMap', name, uid: `uid-${name}` };
};

/** Each recipe reads only what it changes: complete lists, single labels, or all labels. */
const INTENTS = {
  'push a finalizer': (own: number): Recipe => {
    return ({ metadata }) => {
      metadata.finalizers ??= [];
      metadata.finalizers.push(finalizer(own));
    };
  },
  'put a finalizer in front, in a new list': (own: number): Recipe => {
    return ({ metadata }) => {
      metadata.finalizers = [finalizer(own), ...(metadata.finalizers ?? [])];
    };
  },
  'remove a finalizer, and the list with the last': (_own: number, other: number): Recipe => {
    return ({ metadata }) => {
      const left = (metadata.finalizers ?? []).filter((each) => each !== finalizer(other));
      if (left.length > 0) metadata.finalizers = left;
      else delete metadata.finalizers;
    };
  },
  'turn the finalizers round': (): Recipe => {
    return ({ metadata }) => void metadata.finalizers?.reverse();
  },
  'add an owner': (own: number): Recipe => {
    return ({ metadata }) => {
      metadata.ownerReferences = [...(metadata.ownerReferences ?? []), owner(own)];
    };
  },
  'remove an owner': (_own: number, other: number): Recipe => {
    return ({ metadata }) => {
      const owners = metadata.ownerReferences?.filter(({ uid }) => uid !== owner(other).uid);
      if (owners !== undefined) metadata.ownerReferences = owners;
    };
  },
  'block an owner': (_own: number, other: number): Recipe => {
    return ({ metadata }) => {
      for (const each of metadata.ownerReferences ?? []) {
        if (each.uid === owner(other).uid) each.blockOwnerDeletion = true;
      }
    };
  },
  'add a container': (own: number): Recipe => {
    return ({ spec }) => void spec?.containers.push({ name: `c${own}`, image: 'new' });
  },
  'remove a container': (_own: number, other: number): Recipe => {
    return ({ spec }) => {
      if (spec) spec.containers = spec.containers.filter(({ name }) => name !== `c${other}`);
    };
  },
  'set an image': (own: number, other: number): Recipe => {
    return ({ spec }) => {
      const found = spec?.containers.find(({ name }) => name === `c${other}`);
      if (found) found.image = `image-${own}`;
    };
  },
  'set a label': (own: number, other: number): Recipe => {
    return ({ metadata }) => {
      metadata.labels = { ...metadata.labels, [`l${other}`]: `v${own}` };
    };
  },
  'remove a label, and the map with the last': (_own: number, other: number): Recipe => {
    return ({ metadata }) => {
      delete metadata.labels?.[`l${other}`];
      if (Object.keys(metadata.labels ?? {}).length === 0) delete metadata.labels;
    };
  },
} as const;

const intent: fc.Arbitrary<Intent> = fc.tuple(
  fc.constantFrom(...(Object.keys(INTENTS) as (keyof typeof INTENTS)[])),
  fc.nat(4),
);
/** The edited object: by name only, the current one, the first one, or one that a transform has reduced. */
const from = fc.constantFrom('name', 'object', 'stale', 'cut', 'emptied');
const check = fc.constantFrom('uid' as const, 'uid' as const, 'resourceVersion' as const);
const edit = fc.record({ do: fc.constant('edit' as const), intent, from, check });
const write = fc.record({ do: fc.constant('write' as const), intent });
const deliver = fc.record({ do: fc.constant('deliver' as const), at: fc.nat(20) });
const recreate = fc.constant({ do: 'recreate' as const });
const steps = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: edit },
    { weight: 4, arbitrary: write },
    { weight: 10, arbitrary: deliver },
    { weight: 1, arbitrary: recreate },
  ),
  { maxLength: 60, size: 'max' },
);
type Step = typeof steps extends fc.Arbitrary<(infer S)[]> ? S : never;

/** The parts that the recipes change, without empty ones, because a server drops those. */
function partsOf({ metadata, spec }: Pod) {
  const { uid, labels = {}, finalizers = [], ownerReferences = [] } = metadata;
  return structuredClone({ uid, labels, finalizers, ownerReferences, spec });
}

class Story {
  readonly #time = new VirtualTime();
  readonly #server = createFakeApiServer({ random: () => (this.#next++ % 997) / 997 });
  readonly #waiting: (() => Promise<void>)[] = [];
  readonly #edits: Promise<void>[] = [];
  #next = 0;
  #left = 0;
  readonly #first: Pod = this.#create();
  /** The object after one write after another. */
  #model: Pod = structuredClone(this.#first);
  refused = 0;
  taken = 0;

  get #object(): Pod {
    return this.#server.objects.get(pods, TARGET) as Pod;
  }

  #create(): Pod {
    const labels = { l0: 'v' };
    const metadata = { ...TARGET, labels, finalizers: [finalizer(0)], ownerReferences: [owner(1)] };
    const containers = [0, 1, 2].map((id) => ({ name: `c${id}`, image: 'i' }));
    return this.#server.objects.create(pods, { metadata, spec: { containers } });
  }

  #recipe([kind, other]: Intent): Recipe {
    return INTENTS[kind](this.#next++, other);
  }

  /** Applies a recipe to the model. */
  #wrote(recipe: Recipe): void {
    this.taken++;
    recipe(this.#model);
    expect(partsOf(this.#object)).toEqual(partsOf(this.#model));
    this.#model = structuredClone(this.#object);
  }

  #target(from: string): Pod | typeof TARGET {
    if (from === 'name') return TARGET;
    const object = structuredClone(from === 'stale' ? this.#first : this.#object);
    if (from === 'cut') {
      object.metadata.finalizers?.shift();
      object.metadata.ownerReferences?.pop();
      object.spec?.containers.shift();
    }
    if (from === 'emptied') {
      delete object.metadata.finalizers;
      delete object.metadata.labels;
      delete object.metadata.ownerReferences;
    }
    return object;
  }

  #edit({ intent, from, check }: Extract<Step, { do: 'edit' }>): void {
    const recipe = this.#recipe(intent);
    const target = this.#target(from);
    const fetch: typeof globalThis.fetch = (input, init) =>
      new Promise((resolve, reject) => {
        this.#waiting.push(async () => {
          const answer = await this.#server.fetch(input, init);
          if (init?.method === 'PATCH') {
            if (answer.ok) this.#wrote(recipe);
            else this.refused++;
          }
          resolve(answer);
        });
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
      });
    const client = createClient({ baseUrl: 'http://fake', fetch, qps: 0 });
    const calls = createResourceClient(client, pods, { scheduler: this.#time });
    this.#left++;
    const edited = calls.edit(target, recipe as never, { check, attempts: 4 }).then(
      () => undefined,
      (error) => {
        // Other writers were faster each time, or the object was replaced meanwhile.
        if (error.reason === 'Conflict' || ('metadata' in target && error.code === 404)) return;
        throw error;
      },
    );
    this.#edits.push(edited.finally(() => this.#left--));
  }

  #recreate(): void {
    this.#server.objects.modify(pods, TARGET, ({ metadata }) => {
      delete metadata.finalizers;
    });
    this.#server.objects.delete(pods, TARGET);
    this.#model = structuredClone(this.#create());
  }

  async #deliver(at: number): Promise<void> {
    const [send] = this.#waiting.splice(at % Math.max(1, this.#waiting.length), 1);
    await send?.();
    await this.#time.advance(1);
  }

  async #step(step: Step): Promise<void> {
    if (step.do === 'deliver') await this.#deliver(step.at);
    else if (step.do === 'recreate') this.#recreate();
    else if (step.do === 'edit') {
      this.#edit(step);
      await this.#time.advance(1);
    } else {
      const recipe = this.#recipe(step.intent);
      this.#server.objects.modify(pods, TARGET, recipe);
      this.#wrote(recipe);
    }
  }

  async run(script: readonly Step[]): Promise<void> {
    for (const step of script) await this.#step(step);
    while (this.#left > 0) {
      await this.#deliver(0);
      await this.#time.advance(20);
    }
    await Promise.all(this.#edits);
    expect(partsOf(this.#object)).toEqual(partsOf(this.#model));
  }
}

describe('edits among other writers', () => {
  it('C14: edits give the result of all recipes applied one after another, in the order of the server', async () => {
    let refused = 0;
    let taken = 0;
    await fc.assert(
      fc.asyncProperty(steps, async (script) => {
        const story = new Story();
        await story.run(script);
        refused += story.refused;
        taken += story.taken;
      }),
      { numRuns: 250 },
    );
    expect(refused).toBeGreaterThan(250);
    expect(taken).toBeGreaterThan(700);
  });
});
