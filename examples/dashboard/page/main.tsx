/** Starts the page. */
import '@mantine/core/styles.css';
import './page.css';
import { MantineProvider } from '@mantine/core';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { WorkerProvider } from 'rx-informer/react/worker';
import { cluster } from './cluster/cluster.ts';
import { App } from './layout/app.tsx';
import { theme, variables } from './theme.ts';

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no #root');

// The page allows only styles that carry the nonce of this response.
const nonce = document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? '';

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
