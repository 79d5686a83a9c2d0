/** Generates kubeconfigs: many are valid, and many have one or two faults, contradictions or oddities. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { diceOf } from '../dice.ts';
import { oddly, TEXT_ODDITIES } from './oddities.ts';
import { type Addresses, configOf, type Fields, PKI } from './sections.ts';

/** The kubeconfigs by path, and how they are chosen. */
export interface KubeconfigCase {
  readonly files: Readonly<Record<string, string>>;
  /** Merged kubeconfigs, as in KUBECONFIG. Otherwise the first file is given by itself. */
  readonly listed: readonly string[];
  readonly isMerged: boolean;
  readonly context?: string;
  /** The oddities, for a reader of a failure. */
  readonly oddities: readonly string[];
}

/** The folders of kubeconfigs, each with the files to which they refer. */
const FOLDERS = ['a', 'b', 'c'];

/** Writes the files to which kubeconfigs below a folder refer. */
export function writeReferences(root: string): void {
  for (const folder of FOLDERS.map((name) => `${root}/${name}`)) {
    mkdirSync(folder, { recursive: true });
    for (const [file, content] of Object.entries(PKI)) writeFileSync(`${folder}/${file}`, content);
  }
}

/** The kubeconfig of a seed, below a folder. */
export function kubeconfigOf(seed: number, at: Addresses, root: string): KubeconfigCase {
  const dice = diceOf(seed, 77);
  const isMerged = dice.chance(0.4);
  const folders = FOLDERS.slice(0, isMerged ? 1 + dice.below(3) : 1);
  const files: Record<string, string> = {};
  const oddities: string[] = [];
  const listed: string[] = [];
  for (const name of folders) {
    const folder = `${root}/${name}`;
    const config = configOf(dice, at, folder);
    oddly(dice, at, config, oddities);
    // A later file may add only some of the sections.
    if (name !== 'a' && dice.chance(0.4))
      delete (config as Fields)[dice.pick(['clusters', 'users', 'contexts'])];
    if (name === 'a' && isMerged && dice.chance(0.3)) delete (config as Fields)['current-context'];
    const written = dice.chance(0.6)
      ? stringify(config, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false })
      : JSON.stringify(config, null, dice.pick([0, 2]));
    const odd = dice.chance(0.12) ? dice.pick(Object.keys(TEXT_ODDITIES)) : undefined;
    if (odd !== undefined) oddities.push(odd);
    const path = `${folder}/config-${seed}`;
    files[path] = odd === undefined ? written : (TEXT_ODDITIES[odd]?.(dice, written) ?? written);
    listed.push(path);
  }
  if (isMerged && dice.chance(0.15)) listed.splice(dice.below(2), 0, `${root}/nowhere`);
  if (isMerged && dice.chance(0.05)) listed.push('');
  if (dice.chance(0.02)) listed.splice(0, 9, `${root}/nowhere`);
  const context = dice.chance(0.15) ? { context: dice.pick(['dev', 'prod', 'prod', 'gone']) } : {};
  return { files, listed, isMerged, oddities, ...context };
}
