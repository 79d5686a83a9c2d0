/** The script of the test page: all scenarios by name. */
import { version } from 'react';
import * as activity from './activity.tsx';
import * as edits from './edits.tsx';
import * as lists from './lists.tsx';
import * as suspense from './suspense.tsx';

const scenarios = { ...activity, ...edits, ...lists, ...suspense, reactVersion: () => version };

export type Scenarios = typeof scenarios;

Object.assign(globalThis, { scenarios });
