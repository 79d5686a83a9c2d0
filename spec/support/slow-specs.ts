/** The offline specs of `npm run test:slow`, from `spec/slow.txt`. */
import { readFileSync } from 'node:fs';

export const SLOW: readonly string[] = readFileSync(new URL('../slow.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'));
