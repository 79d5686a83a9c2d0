/** What our client does with a kubeconfig: refuses it, fails with the first request, or sends the request. */
import { ApiError } from 'rx-informer';
import { clientFromKubeConfig } from 'rx-informer/node';
import type { KubeconfigCase } from './generated-kubeconfig.ts';
import type { Received } from './receiving-servers.ts';

/** The outcome of either side. Exactly one field is set. */
export interface KubeconfigOutcome {
  readonly refused?: string;
  readonly failed?: string;
  readonly received?: Received;
  /** An error that is no refusal of ours, and therefore always a fault. */
  readonly crashed?: string;
}

/** The messages with which our client refuses a kubeconfig. */
const REFUSALS = /^(clientFromKubeConfig|createClient|the base URL|proxy-url)/;

/** Loads the kubeconfig, and returns the function that sends the request. Loads must not overlap: the files are listed in the environment. */
export async function loadOurs(given: KubeconfigCase): Promise<() => Promise<KubeconfigOutcome>> {
  const { listed, isMerged, context } = given;
  const chosen = context === undefined ? {} : { context };
  if (isMerged) process.env.KUBECONFIG = listed.join(':');
  try {
    const file = listed[0] ?? '';
    const client = await clientFromKubeConfig(isMerged ? chosen : { ...chosen, file });
    return async () => {
      try {
        return { received: await client.request<Received>({ path: '/version' }) };
      } catch (error) {
        if (!(error instanceof ApiError)) return { crashed: String(error) };
        return { failed: `${error.reason}: ${error.message}` };
      } finally {
        await client.close();
      }
    };
  } catch (error) {
    const { message } = error as Error;
    const isRefusal = error instanceof TypeError && REFUSALS.test(message);
    return async () => (isRefusal ? { refused: message } : { crashed: String(error) });
  } finally {
    delete process.env.KUBECONFIG;
  }
}
