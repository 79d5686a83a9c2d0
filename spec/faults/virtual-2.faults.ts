import { virtualShare } from './virtual-share.ts';

virtualShare(1, 2);
