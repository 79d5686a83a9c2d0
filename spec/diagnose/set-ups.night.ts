/** Set-ups that hold back what they should pass on, with real sockets: `diagnose` finds them by the times of a watch. */
import { createClient } from 'rx-informer';
import { type DiagnoseOptions, diagnose } from 'rx-informer/diagnose';
import { describe, expect, it } from 'vitest';
import * as broken from './broken-proxies.ts';
import { behind, named, quick, served, vite } from './set-up-rig.ts';

/** For findings about times, which a busy machine must not blur. */
const steady: DiagnoseOptions = { ...quick, watchSeconds: 2 };

describe.concurrent('a diagnosis over sockets', () => {
  it('C50: a proxy that buffers', async ({ onTestFinished: ends }) => {
    const url = await behind(ends, broken.buffering((await served(ends)).url));
    const diagnosis = await diagnose(createClient({ baseUrl: url }), steady);
    expect(named(diagnosis)).toEqual(['RX111 held-back']);
    expect(diagnosis.findings[0]?.advice).toContain('proxy_buffering off');
  });

  it('C50: a development server that hides a cut', async ({ onTestFinished: ends }) => {
    const { url: target } = await served(ends);
    const url = await vite(ends, { '/': { target, changeOrigin: true } });
    const diagnosis = await diagnose(createClient({ baseUrl: url }), steady);
    expect(named(diagnosis)).toEqual(['RX112 late-head']);
    expect(diagnosis.findings[0]?.advice).toContain('viteProxy()');
  });
});
