import { virtualShare } from './virtual-share.ts';

virtualShare(0, 1, true);
