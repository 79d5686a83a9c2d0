/** Loads each entry by import and by require(), which must give one instance. */
import { createRequire } from 'node:module';
import { tell } from './settings.ts';

const require = createRequire(import.meta.url);
const same: Record<string, boolean> = {};
for (const entry of [
  '',
  '/resources',
  '/testing',
  '/node',
  '/worker',
  '/diagnose',
  '/react',
  '/nats',
]) {
  const imported = (await import(`rx-informer${entry}`)) as Record<string, unknown>;
  const required = require(`rx-informer${entry}`) as Record<string, unknown>;
  const names = Object.keys(imported);
  same[entry] = names.length > 0 && names.every((name) => imported[name] === required[name]);
}
tell({ same });
