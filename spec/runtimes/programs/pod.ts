/** Sends a request with the service account of a pod. */
import { clientFromKubeConfig } from 'rx-informer/node';
import { tell } from './settings.ts';

const client = await clientFromKubeConfig();
tell({ version: await client.request<object>({ path: '/version' }), protocol: client.protocol });
await client.close();
