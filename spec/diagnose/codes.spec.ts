/** Tests that every reason and every finding has one code, and that the pages explain each of them. */
import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { ApiError, createController, liveQuery } from 'rx-informer';
import { codeOf, codes } from 'rx-informer/diagnose';
import { pods } from 'rx-informer/resources';
import { describe, expect, it } from 'vitest';
import { runCommand } from '../../lib/command/command.ts';
import { sectionOf } from '../../lib/command/docs-section.ts';
import { finding } from '../../lib/diagnose/findings.ts';

const text = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const troubleshooting = text('docs/operations/troubleshooting.md');
const diagnosePage = text('docs/operations/diagnose.md');
const source = text('lib/meta/api-error.ts');

/** The reasons of the library, and those that it derives from an HTTP status. */
function reasons(): string[] {
  const [, local = ''] = /export type LocalReason =([^;]*);/.exec(source) ?? [];
  const [, derived = ''] = /const REASONS[^{]*\{([^}]*)\}/.exec(source) ?? [];
  const quoted = [...`${local}${derived}`.matchAll(/'(\w+)'/g)];
  return quoted.map(([, name = '']) => name);
}

const isReason = ({ page }: { readonly page: string }) => page.endsWith('troubleshooting.md');

describe('codes', () => {
  it('C54: every reason of the library has a code, and no two entries share a code or a name', () => {
    expect(reasons().length).toBeGreaterThan(25);
    expect(reasons().filter((reason) => codeOf(reason)?.name !== reason)).toEqual([]);
    const all = codes.flatMap(({ code, name }) => [code, name.toLowerCase()]);
    expect(new Set(all).size).toBe(all.length);
  });

  it('C54: a code is found by the error, by its reason in any case, and by itself', () => {
    const error = ApiError.fromStatus({ reason: 'Expired' }, 410);
    expect(codeOf(error)?.code).toBe('RX24');
    expect(codeOf('held-back')).toEqual(codeOf('RX111'));
    expect(codeOf('rx111')?.name).toBe('held-back');
    expect(codeOf('NoSuchReason')).toBeUndefined();
  });

  it('C54: codes never change their meaning', () => {
    const first = ['RX1 Network', 'RX11 Credentials', 'RX17 Forbidden', 'RX33 Unknown'];
    const later = ['RX101 unreachable', 'RX107 missing-right', 'RX120 blocked-informer'];
    const all = codes.map(({ code, name }) => `${code} ${name}`);
    expect([...first, ...later].filter((each) => !all.includes(each))).toEqual([]);
  });

  it('C54: troubleshooting.md has a row for each reason, and no other', () => {
    const rows = [...troubleshooting.matchAll(/^\| (RX\d+) \| `(\w+)` \|/gm)];
    expect(rows.map(([, code, name]) => `${code} ${name}`)).toEqual(
      codes.filter(isReason).map(({ code, name }) => `${code} ${name}`),
    );
  });

  it('C54: diagnose.md has a section for each finding with its severity, and no other', () => {
    const sections = [...diagnosePage.matchAll(/^### (RX\d+): (\S+)\n\n\*(\w+)\.\*/gm)];
    const expected = codes
      .filter((entry) => !isReason(entry))
      .map(({ code, name }) => `${code} ${name} ${finding(name as never, '').severity}`);
    expect(sections.map(([, code, name, severity]) => `${code} ${name} ${severity}`)).toEqual(
      expected,
    );
  });

  it('C54: every code has a text, and a row with a link has the section of that link', () => {
    for (const { code, page } of codes) {
      const found = sectionOf(text(page), code);
      expect(found?.length, code).toBeGreaterThan(40);
    }
    const linked = [...troubleshooting.matchAll(/^\| (RX\d+) \|.*\]\(#[^)]+\) \|$/gm)];
    expect(linked.length).toBeGreaterThan(8);
    for (const [, code = ''] of linked) {
      expect(sectionOf(troubleshooting, code), code).toContain('\n\n## ');
    }
    expect(sectionOf(troubleshooting, 'RX1')).toContain('ECONNREFUSED');
    expect(sectionOf(troubleshooting, 'RX999')).toBeUndefined();
  });

  it('C54: the message of a TypeError is explained by the function or the option that it names', async () => {
    const explain = async (misuse: () => unknown) => {
      const printed: string[] = [];
      const { message } = await (async () => misuse())().then(
        () => new Error('nothing was refused'),
        (error: Error) => error,
      );
      const streams = { input: Readable.from([]), error: () => {} };
      const out = (line: string) => printed.push(line);
      return [await runCommand(['explain', message], { ...streams, out }), printed.join('')];
    };
    const limit = await explain(() => liveQuery({ from: pods, limit: -1 }));
    expect(limit[0]).toBe(0);
    expect(limit[1]).toMatch(/^limit: The most rows[\s\S]*\n\nliveQuery: Creates a query/);
    // This message begins with the name of the controller.
    const controller = { name: 'web', reconcile() {}, concurrency: 0 };
    const concurrency = await explain(() => createController(controller as never));
    expect(concurrency[0]).toBe(0);
    expect(concurrency[1]).toMatch(/concurrency of \w+Options: /);
    expect(await explain(() => Promise.reject(new Error('no such thing')))).toEqual([2, '']);
  });
});
