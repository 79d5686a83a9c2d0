import { queryShare } from './share.ts';

queryShare(0, 2);
