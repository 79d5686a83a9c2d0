import { readFileSync } from 'node:fs';
import { openRealApiServer } from './real.ts';
import { apiServerConformance } from './suite.ts';

const s = JSON.parse(readFileSync('/tmp/w/fake-helper-apiserver.json', 'utf8'));
apiServerConformance('real', () => openRealApiServer(s));
