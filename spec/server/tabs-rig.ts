/** A server of users, and a browser whose worker is one page of it, in virtual time. */
import type { ShareServerOptions } from 'rx-informer/server';
import { relayParts } from '../../lib/server/relay/share-server.ts';
import { BrowserRig, type TabOptions } from '../worker/browser-rig.ts';
import { UsersRig } from './users-rig.ts';

export function rigOfTabs(options: Partial<ShareServerOptions> = {}, users = new UsersRig()) {
  const { scheduler } = users;
  const browser = new BrowserRig(scheduler);
  browser.answering = relayParts({
    ...{ url: 'ws://localhost/queries', webSocket: () => users.socket(), scheduler },
    ...{ random: () => 0, ...options },
  });
  let token = 't-ann';
  const open = (more: TabOptions = {}) => browser.open({ credentials: () => ({ token }), ...more });
  /** What the server was sent of a type. */
  const sent = (type: string) =>
    users.toServer.map((text) => JSON.parse(text)).filter((message) => message.type === type);
  return {
    ...{ users, browser, open, sent },
    sign: (other: string) => {
      token = other;
    },
    sockets: () => users.sockets.filter(([page]) => page.readyState === 1).length,
    pass: (ms?: number) => users.pass(ms),
  };
}
