/** Renders the page. */
import '@mantine/core/styles.css';
import './page.css';
import { MantineProvider } from '@mantine/core';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { WorkerProvider } from 'rx-informer/react/worker';
import { cluster, connectPage, type SignedInUser } from './cluster/cluster.ts';
import { nonce, root } from './cluster/settings.ts';
import { App } from './layout/app.tsx';
import { theme, variables } from './theme.ts';

export function renderPage(user?: SignedInUser): void {
  connectPage(user);
  createRoot(root).render(
    <StrictMode>
      <MantineProvider
        theme={theme}
        cssVariablesResolver={variables}
        defaultColorScheme="auto"
        getStyleNonce={() => nonce}
      >
        <WorkerProvider cluster={cluster}>
          <App />
        </WorkerProvider>
      </MantineProvider>
    </StrictMode>,
  );
}
