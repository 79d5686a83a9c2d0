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

/** What a provider is given. */
export interface Given {
  readonly client: KubeClient;
  readonly factory?: InformerFactory | undefined;
  readonly options?: ProvidedFactoryOptions | undefined;
}

export interface Provided extends ProviderState, Given {
  /** Whether React has shown the provider, and will keep its state. */
  isShown: boolean;
  readonly informers: InformerPool;
  /** Keeps the provider's own informers until the returned function is called. */
  readonly hold: () => () => void;
}

/** Creates the state of a provider of a client and a factory, or of the options of a factory of its own. */
export function createProvided({ client, factory, options }: Given): Provided {
  const own = factory === undefined ? new SharedInformers(client, options ?? {}) : undefined;
  const informers = own ?? informersOfFactory('InformerProvider', factory as InformerFactory);
  const hold = leftLater(() => new Subscription(() => own?.stop().catch(reportUnhandled)));
  const given = { client, factory, options };
  return Object.assign(new ProviderState(), { ...given, isShown: false, informers, hold });
}
