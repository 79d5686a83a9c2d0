/** The guard of servers that add credentials: which requests another site makes a browser send. */
import type { IncomingHttpHeaders } from 'node:http';
import { foreignRequest } from 'rx-informer/node';
import { describe, expect, it } from 'vitest';

const host = 'localhost:5173';
const json = 'application/json';
type Row = [what: string, method: string, headers: IncomingHttpHeaders, why: string | undefined];
const sent: Row[] = [
  ['a program', 'GET', { host }, undefined],
  [
    'the page',
    'GET',
    { host, 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' },
    undefined,
  ],
  [
    'the address bar',
    'GET',
    { host, 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' },
    undefined,
  ],
  [
    'a write of the page',
    'POST',
    { host, origin: `http://${host}`, 'content-type': json },
    undefined,
  ],
  [
    'a page over https',
    'POST',
    { host, origin: `https://${host}`, 'content-type': json },
    undefined,
  ],
  ['an address', 'GET', { host: '192.168.1.5:80' }, undefined],
  ['an address of version 6', 'GET', { host: '[::1]:5173' }, undefined],
  ['a name below localhost', 'GET', { host: 'app.localhost:5173' }, undefined],
  ['a name in capitals', 'GET', { host: 'LOCALHOST:5173' }, undefined],
  ['no Host', 'GET', {}, 'another Host'],
  [
    'the page over HTTP/2',
    'POST',
    { ':authority': host, origin: `https://${host}`, 'content-type': json },
    undefined,
  ],
  ['another name over HTTP/2', 'GET', { ':authority': 'evil.example' }, 'another Host'],
  [
    'another Origin over HTTP/2',
    'POST',
    { ':authority': host, origin: 'https://evil.example', 'content-type': json },
    'another Origin',
  ],
  ['a name that resolves here', 'GET', { host: 'evil.example:5173' }, 'another Host'],
  ['a name that only looks local', 'GET', { host: 'localhost.evil.example' }, 'another Host'],
  ['a name like an address', 'GET', { host: '127.0.0.1.evil.example' }, 'another Host'],
  ['another Origin', 'GET', { host, origin: 'https://evil.example' }, 'another Origin'],
  ['another port', 'GET', { host, origin: 'http://localhost:1' }, 'another Origin'],
  ['an opaque Origin', 'GET', { host, origin: 'null' }, 'another Origin'],
  ['another site', 'GET', { host, 'sec-fetch-site': 'cross-site' }, 'another site'],
  ['a sibling', 'GET', { host, 'sec-fetch-site': 'same-site' }, 'another site'],
  ['a POST without a type', 'POST', { host }, 'a form'],
  ['a POST of text', 'POST', { host, 'content-type': 'text/plain;charset=utf-8' }, 'a form'],
  ['a form', 'POST', { host, 'content-type': 'application/x-www-form-urlencoded' }, 'a form'],
  ['a file', 'POST', { host, 'content-type': 'Multipart/Form-Data; boundary=x' }, 'a form'],
  ['a PUT of text', 'PUT', { host, 'content-type': 'text/plain' }, 'a form'],
  ['an upgrade', 'GET', { host, upgrade: 'websocket', origin: `http://${host}` }, undefined],
  [
    'an upgrade of another site',
    'GET',
    { host, upgrade: 'websocket', origin: 'https://evil.example' },
    'another Origin',
  ],
];

describe('foreignRequest', () => {
  it.each<Row>(sent)('T78: judges %s', (_what, method, headers, why) => {
    const found = foreignRequest({ method, headers });
    if (why === undefined) expect(found).toBeUndefined();
    else expect(found).toMatch(new RegExp(`^This server answers only to .*, not to ${why}\\.$`));
  });

  it.each([
    ['a link', 'document', true],
    ['a link of an old browser', undefined, true],
    ['a hidden frame', 'iframe', false],
    ['an embedded object', 'embed', false],
  ])('T78: %s of another site may lead to the page and to nothing else', (_what, dest, isPage) => {
    const visit = { host, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
    const headers = dest === undefined ? visit : { ...visit, 'sec-fetch-dest': dest };
    expect(foreignRequest({ headers }, { page: true }) === undefined).toBe(isPage);
    expect(foreignRequest({ headers })).toMatch(/another site/);
    expect(foreignRequest({ headers, method: 'POST' }, { page: true })).toMatch(/another site/);
  });

  it('T78: answers to the hosts that are named, and to no other', () => {
    const judged = (value: string) =>
      foreignRequest({ headers: { host: value } }, { hosts: ['Dev.Example', 'b:1'], name: 'It' });
    expect([judged('dev.example'), judged('dev.example:7'), judged('b:1')]).toEqual(
      Array(3).fill(undefined),
    );
    expect(judged('b:2')).toBe('It answers only to Dev.Example and b:1, not to another Host.');
    expect(judged('localhost')).toMatch(/another Host/);
  });
});
