/** Starts the page. */
import '@mantine/core/styles.css';
import './page.css';
import { MantineProvider } from '@mantine/core';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { InformerProvider } from 'rx-informer/react';
import { client, factory, start } from './cluster/cluster.ts';
import { App } from './layout/app.tsx';
import { theme, variables } from './theme.ts';

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no #root');

// The page allows only styles that carry the nonce of this response.
const nonce = document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? '';

const stop = start();
window.addEventListener('pagehide', (event) => {
  if (!event.persisted) stop();
});

createRoot(root).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={variables}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <InformerProvider client={client} factory={factory}>
        <App />
      </InformerProvider>
    </MantineProvider>
  </StrictMode>,
);
