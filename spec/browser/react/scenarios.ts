/** The script of the test page: all scenarios by name. */
import { version } from 'react';
import * as activity from './activity.tsx';
import * as edits from './edits.tsx';
import * as lists from './lists.tsx';
import * as status from './status.tsx';
import * as suspense from './suspense.tsx';

const all = { ...activity, ...edits, ...lists, ...status, ...suspense };
const scenarios = { ...all, reactVersion: () => version };

export type Scenarios = typeof scenarios;

Object.assign(globalThis, { scenarios });
