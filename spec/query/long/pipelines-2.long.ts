import { queryShare } from './share.ts';

queryShare(1, 2);
