/** The script of the test page: all scenarios by name. */
import { version } from 'react';
import * as lists from './lists.tsx';

const scenarios = { ...lists, reactVersion: () => version };

export type Scenarios = typeof scenarios;

Object.assign(globalThis, { scenarios });
