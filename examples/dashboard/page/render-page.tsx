/** Renders the page. */
import './mantine.css';
import './page.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { WorkerProvider } from 'rx-informer/react/worker';
import { cluster, connectPage, type SignedInUser } from './cluster/cluster.ts';
import { root } from './cluster/settings.ts';
import { App } from './layout/app.tsx';
import { Themed } from './theme.tsx';

export function renderPage(user?: SignedInUser): void {
  connectPage(user);
  createRoot(root).render(
    <StrictMode>
      <Themed>
        <WorkerProvider cluster={cluster}>
          <App />
        </WorkerProvider>
      </Themed>
    </StrictMode>,
  );
}
