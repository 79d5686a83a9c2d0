/** The provider of a client and of informers. */
import { Subscription } from 'rxjs';
import { informersOfFactory } from '../factory/factory-informers.ts';
import type { InformerFactory } from '../factory/informer-factory.ts';
import type { InformerFactoryOptions } from '../factory/options.ts';
import { type InformerPool, SharedInformers } from '../factory/shared-informers.ts';
import { reportUnhandled } from '../rx/report-unhandled.ts';
import type { KubeClient } from '../transport/kube-client.ts';
import { leftLater } from './left-later.ts';
import { ProviderState } from './provider-state.ts';

/** Options of the factory that a provider makes. Without `name`, because two of one name would exist for a moment. */
export type ProvidedFactoryOptions = Omit<InformerFactoryOptions, 'name'>;

export interface Provided extends ProviderState {
  readonly client: KubeClient;
  readonly informers: InformerPool;
  /** Keeps the provider's own informers until the returned function is called. */
  readonly hold: () => () => void;
}

/** Creates the state of a provider of a client and a factory, or of the options of a factory of its own. */
export function createProvided(
  client: KubeClient,
  given: InformerFactory | ProvidedFactoryOptions = {},
): Provided {
  const own = 'acquire' in given ? undefined : new SharedInformers(client, given);
  const informers = own ?? informersOfFactory('InformerProvider', given);
  const hold = leftLater(() => new Subscription(() => own?.stop().catch(reportUnhandled)));
  return Object.assign(new ProviderState(), { client, informers, hold });
}
