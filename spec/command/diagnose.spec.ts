/** `rx-informer diagnose` and `rx-informer explain`, with servers on loopback. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { inspectKubeConfig } from 'rx-informer/node';
import { createFakeApiServer } from 'rx-informer/testing';
import { asyncScheduler } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { runCommand } from '../../lib/command/command.ts';
import { base64, kubeconfig } from '../node/kubeconfigs.ts';
import { listen } from '../node/servers.ts';
import {
  testOnlyCa,
  testOnlyClientCert,
  testOnlyClientKey,
} from '../node/test-only-certificates.ts';

let folder = '';
const endings: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rx-informer-spec-'));
  endings.push(() => rm(folder, { recursive: true }));
});
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

async function ran(...args: readonly string[]) {
  let [out, error] = ['', ''];
  const streams = {
    input: (async function* () {})(),
    out: (text: string) => {
      out += text;
    },
    error: (text: string) => {
      error += text;
    },
  };
  return { code: await runCommand(args, streams), out, error };
}

async function config(cluster: object, user?: object): Promise<string> {
  const file = join(folder, 'config');
  await writeFile(file, kubeconfig(cluster, user));
  return file;
}

/** A JSON Web Token that the fake server does not check. */
function tokenOf(claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'none' })}.${part(claims)}.c2lnbmF0dXJl`;
}

/** Stops the clock that shows the time of day, and returns its time in seconds. */
function stoppedS(): number {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  return Math.round(asyncScheduler.now() / 1_000);
}

/** An API server over TLS and HTTP/2. */
async function secured() {
  const server = createFakeApiServer();
  const front = await listen('http2', async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const { method = 'GET', url } = request;
    const answer = await server.fetch(`http://fake${url}`, {
      method,
      ...(body === '' ? {} : { body, headers: { 'content-type': 'application/json' } }),
    });
    // By a stopped clock, too: the time that a test takes is no difference of clocks.
    const date = new Date(asyncScheduler.now()).toUTCString();
    response.writeHead(answer.status, { ...Object.fromEntries(answer.headers), date });
    if ('stream' in response) response.flushHeaders();
    for await (const chunk of answer.body ?? []) response.write(chunk);
    response.end();
  });
  endings.push(() => front.close());
  const cluster = { server: front.url, 'certificate-authority-data': base64(testOnlyCa) };
  return { cluster };
}

describe('rx-informer diagnose', () => {
  it('C51: says that nothing is wrong, with the protocol, TLS, the token and the rights', async () => {
    const { cluster } = await secured();
    const nowS = stoppedS();
    const token = tokenOf({ iat: nowS - 1_800, exp: nowS + 3_600 });
    const own = ['--kubeconfig', await config(cluster, { token }), '--seconds', '1'];
    const { code, out, error } = await ran('diagnose', ...own, '--namespace', 'shop');
    expect({ code, error }).toEqual({ code: 0, error: '' });
    expect(out).toMatch(/server {7}v1\.37\.0\+rx-informer-fake, h2, TLSv1\.3, answered in \d+ ms/);
    expect(out).toContain('credentials  token, issued 30 min ago, valid for 60 min more');
    expect(out).toContain('right        watch pods in shop: yes');
    expect(out).toContain('Nothing is wrong.');
    expect(out).not.toContain(token);
  });

  it('C51: names an expired token, a wrong kind and the fix, and fails with exit code 1', async () => {
    const { cluster } = await secured();
    const token = tokenOf({ exp: stoppedS() - 600 });
    const own = ['--kubeconfig', await config(cluster, { token }), '--seconds', '1'];
    const { code, out, error } = await ran('diagnose', ...own);
    expect(out).toContain('error RX108: the token expired 10 min ago\n  Renew the token');
    expect(out).toContain('rx-informer explain RX108');
    expect(out).toContain('expired 10 min ago');
    expect(code).toBe(1);
    expect(error).toBe('rx-informer: diagnose: 1 of the findings must be corrected\n');
    const unknown = await ran('diagnose', ...own, '--kind', 'pdos');
    expect(unknown).toMatchObject({ code: 1, out: '' });
    expect(unknown.error).toContain('pods');
    const elsewhere = await ran('diagnose', ...own, '--context', 'nowhere');
    expect(elsewhere).toMatchObject({ code: 1, out: '' });
    expect(elsewhere.error).toContain("no context 'nowhere'");
  });

  it('C53, C51: prints JSON with a report without hosts and tokens', async () => {
    const { cluster } = await secured();
    const token = tokenOf({ sub: 'canary' });
    const own = ['--kubeconfig', await config(cluster, { token }), '--seconds', '1', '--json'];
    const { code, out } = await ran('diagnose', ...own, '--report');
    const { findings, report } = JSON.parse(out);
    expect({ code, findings }).toEqual({ code: 0, findings: [] });
    expect(report.connection).toMatchObject({ protocol: 'h2', tls: 'TLSv1.3' });
    expect(JSON.stringify(report)).not.toMatch(/127\.0\.0\.1|canary/);
    expect(out).not.toContain(token);
  });

  it('C51: wrong arguments end it with exit code 2', async () => {
    expect(await ran('diagnose', '--seconds', '0')).toMatchObject({ code: 2, out: '' });
    expect(await ran('diagnose', '--nmae')).toMatchObject({ code: 2, out: '' });
  });

  it('C56: inspectKubeConfig says the kind and the times of credentials, not the credentials', async () => {
    const { cluster } = await secured();
    const own = {
      'client-certificate-data': base64(testOnlyClientCert),
      'client-key-data': base64(testOnlyClientKey),
    };
    const of = (user?: object) => inspectKubeConfig({ text: kubeconfig(cluster, user) })();
    const facts = await of(own);
    expect(facts).toMatchObject({ credentials: { kind: 'certificate', renews: false } });
    expect(facts.credentials?.expiresAtMs).toBeGreaterThan(Date.parse('2030-01-01'));
    expect(facts.certificateEndsAtMs).toBeGreaterThan(Date.parse('2030-01-01'));
    expect(await of({ token: 'opaque' })).toMatchObject({
      credentials: { kind: 'token', renews: false },
    });
    expect(await of({ username: 'me', password: 'pw' })).toMatchObject({
      credentials: { kind: 'basic' },
    });
    expect(await of()).toMatchObject({ credentials: { kind: 'none' }, tls: 'TLSv1.3' });
    const text = kubeconfig({ server: 'https://me:hunter2@host:99999' }, own);
    const failure = await inspectKubeConfig({ text })().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(TypeError);
    expect(inspect(failure)).not.toContain('hunter2');
  });
});

describe('rx-informer explain', () => {
  it('C54: prints the section of a code, of a reason and of a finding', async () => {
    const network = await ran('explain', 'RX1');
    expect(network.code).toBe(0);
    expect(network.out).toMatch(/^RX1: Network\. /);
    expect(network.out).toContain('## No connection');
    expect(network.out).toContain('docs/operations/troubleshooting.md');
    expect((await ran('explain', 'network')).out).toBe(network.out);
    expect((await ran('explain', 'held-back')).out).toMatch(/^### RX111: held-back/);
    expect((await ran('explain', '--list')).out).toContain('RX120 blocked-informer\n');
  });

  it('C54: an unknown code is refused with similar ones', async () => {
    const { code, error } = await ran('explain', 'Netwrok');
    expect({ code, error }).toEqual({
      code: 2,
      error:
        'rx-informer: explain: "Netwrok" is no code, and names no function or option; did you mean Network?\n',
    });
    expect((await ran('explain')).code).toBe(2);
  });
});
