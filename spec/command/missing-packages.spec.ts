/** What the commands say if packages that they need are not installed. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { missingPackages } from '../../lib/command/missing-packages.ts';

const message = "init needs the package 'yaml': npm install yaml";
const missing = { what: 'init', packageName: 'yaml', message };
const packages = ['yaml', 'json-schema-to-typescript'];
const args = ['init', 'controller', 'x', '--crd', "my crd's.yaml"];
const npx = '/home/dev/.npm/_npx/1f2e/node_modules/rx-informer';

const said = (root: string, cwd: string, given?: string) =>
  missingPackages(missing, packages, args, { root, cwd, given });

describe('a command without its packages', () => {
  it('T52: says the command line that works if npx runs it from its cache', async () => {
    const line =
      "init needs the package 'yaml'. Run: npx --package=rx-informer --package=yaml@2 --package=json-schema-to-typescript@16 rx-informer init controller x --crd \"my crd's.yaml\"";
    expect(await said(npx, '/home/dev/empty')).toBe(line);
    expect(await said(npx, '/home/dev')).toBe(line);
  });

  it('T52: repeats the packages that npx was given, each once', async () => {
    expect(await said(npx, '/empty', '/tmp/rx-informer-1.0.0.tgz\nyaml@^2')).toContain(
      'npx --package=/tmp/rx-informer-1.0.0.tgz --package=yaml@2 --package=json-schema-to-typescript@16 rx-informer',
    );
  });

  it.each([
    ['/app/node_modules/rx-informer', '/app'],
    ['/app/node_modules/rx-informer', '/app/packages/web'],
    ['/app/node_modules/.pnpm/rx-informer@1.0.0/node_modules/rx-informer', '/app'],
    ['/home/ann/rx-informer', '/elsewhere'],
  ])('T52: says npm install if packages can be installed beside %s', async (root, cwd) => {
    expect(await said(root, cwd)).toBe(message);
  });

  it('T52: names one package, and a package of a package', async () => {
    const surroundings = { root: npx, cwd: '/', given: undefined };
    expect(await missingPackages(missing, ['yaml'], ['rbac', 'a.ts'], surroundings)).toBe(
      "init needs the package 'yaml'. Run: npx --package=rx-informer --package=yaml@2 rx-informer rbac a.ts",
    );
    const inner = { ...missing, packageName: 'lodash' };
    expect(await missingPackages(inner, ['yaml'], ['rbac'], surroundings)).toContain(
      '--package=lodash --package=yaml@2 rx-informer rbac',
    );
  });

  it.each(['README.md', 'docs/guide/README.md', 'docs/guide/sample-controller.md'])(
    'T52: %s shows no line for init controller that lacks packages',
    (page) => {
      const lines = readFileSync(page, 'utf8').match(/npx .*\binit controller\b/g) ?? [];
      const works = (line: string) => packages.every((name) => line.includes(`--package=${name} `));
      expect(lines.filter((line) => !works(line))).toEqual([]);
      expect(lines.length > 0).toBe(page !== 'docs/guide/README.md');
    },
  );
});
