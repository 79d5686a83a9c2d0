/** How Vite serves and builds the page, and forwards its requests to the API server. */
import react from '@vitejs/plugin-react';
import { viteProxy } from 'rx-informer/node';
import { defineConfig } from 'vitest/config';

/** The address of `kubectl proxy`, or of the fake API server. */
const apiServer = process.env['API_SERVER'] ?? 'http://127.0.0.1:8001';

// viteProxy forwards a watch as it is. The default settings would hold its head back, and hide that it was cut.
const proxy = { '/k8s': viteProxy(apiServer, '/k8s') };

export default defineConfig({
  plugins: [react()],
  // `npm run dev`, and `npm run preview` for the built page.
  server: { proxy },
  preview: { proxy },
  // A test that succeeds does not wait for these limits.
  test: { testTimeout: 120_000, hookTimeout: 60_000, expect: { poll: { timeout: 20_000 } } },
});
