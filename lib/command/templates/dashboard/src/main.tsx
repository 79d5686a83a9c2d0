/** Connects the page: one client, and one set of informers for all components. */
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createClient } from 'rx-informer';
import { InformerProvider } from 'rx-informer/react';
import { PodsTable } from './pods-table.tsx';
import { StatusLine } from './status-line.tsx';

// vite.config.ts forwards these requests to the API server.
const client = createClient({ baseUrl: '/k8s' });

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no element with the id root');
createRoot(root).render(
  <StrictMode>
    <InformerProvider client={client}>
      <header>
        <h1>Pods</h1>
        <StatusLine />
      </header>
      <main>
        <PodsTable />
      </main>
    </InformerProvider>
  </StrictMode>,
);
