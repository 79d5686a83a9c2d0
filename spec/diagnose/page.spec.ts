/** A diagnosis in a page, which has few connections over HTTP/1.1, and no cause of a failed request. */
import { createClient } from 'rx-informer';
import { diagnose } from 'rx-informer/diagnose';
import { createFakeApiServer } from 'rx-informer/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';

afterEach(() => vi.unstubAllGlobals());

describe('a diagnosis in a page', () => {
  it('C50: names the limit of connections over HTTP/1.1', async () => {
    const { url, close } = await createFakeApiServer().serve();
    vi.stubGlobal('location', { origin: url });
    const client = createClient({ baseUrl: url });
    const { findings } = await diagnose(client, { watchSeconds: 1 });
    expect(findings.map(({ code, severity, seen }) => `${code} ${severity} ${seen}`)).toEqual([
      'RX117 warning 6 more requests can be open at a time (http/1.1), and each watch holds one',
    ]);
    expect(findings[0]?.advice).toContain('HTTP/2');
    await client.close();
    await close();
  });

  it('C50: names a failed fetch, although it has no cause', async () => {
    vi.stubGlobal('location', { origin: 'https://app.example' });
    const fetch = () => Promise.reject(new TypeError('Failed to fetch'));
    const client = createClient({ baseUrl: 'https://k8s.example', fetch });
    const { findings } = await diagnose(client, { watchSeconds: 1 });
    expect(findings.map(({ code }) => code)).toContain('RX101');
    expect(findings[0]?.seen).toContain('CORS');
    await client.close();
  });
});
