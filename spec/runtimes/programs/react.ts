/** Renders a list of Pods on a server. */
import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { createClient } from 'rx-informer';
import { InformerProvider, useList } from 'rx-informer/react';
import { WorkerProvider } from 'rx-informer/react/worker';
import { pods } from 'rx-informer/resources';
import { tell } from './settings.ts';

let requests = 0;
const client = createClient({
  baseUrl: 'http://fake',
  fetch: () => {
    requests++;
    return new Promise<Response>(() => {});
  },
});
function List() {
  const { rows, synced } = useList(pods, { namespace: 'shop' });
  return createElement('p', null, `${rows.length} ${synced}`);
}
const html = renderToString(createElement(InformerProvider, { client }, createElement(List)));
tell({ html, requests, worker: typeof WorkerProvider });
