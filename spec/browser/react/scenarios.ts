/** The script of the test page: all scenarios by name. */
import { version } from 'react';
import * as edits from './edits.tsx';
import * as lists from './lists.tsx';

const scenarios = { ...edits, ...lists, reactVersion: () => version };

export type Scenarios = typeof scenarios;

Object.assign(globalThis, { scenarios });
