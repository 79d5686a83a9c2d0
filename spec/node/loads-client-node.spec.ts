/** For which users of a kubeconfig all of client-node is loaded. */
import { expect, it, vi } from 'vitest';
import { open, prepareKubeconfigs } from './kubeconfig-rig.ts';
import { kubeconfig } from './kubeconfigs.ts';

const loaded = vi.hoisted(() => ({ times: 0 }));
vi.mock('@kubernetes/client-node', async (original) => {
  loaded.times++;
  return await original();
});

prepareKubeconfigs();

const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'login' };
const tokenFile = { name: 'tokenFile', config: { tokenFile: '/dev/null' } };
const oidc = { name: 'oidc', config: {} };

// The last one loads it, and it is loaded once.
it.each([
  ['a token', 0, { token: 'of-dev' }],
  ['a token file', 0, { tokenFile: 'token' }],
  ['a password', 0, { username: 'dev', password: 'of-dev' }],
  ['a certificate', 0, { 'client-certificate': 'crt', 'client-key': 'key' }],
  ['impersonation', 0, { as: 'dev' }],
  ['a plugin', 0, { exec }],
  ['the token file of an auth-provider', 0, { 'auth-provider': tokenFile }],
  ['an auth-provider', 1, { 'auth-provider': oidc }],
])('T81: a kubeconfig whose user has %s loads client-node %i times', async (_, times, user) => {
  await open({ text: kubeconfig({ server: 'https://127.0.0.1' }, user) });
  expect(loaded.times).toBe(times);
});
