/** The option of a factory by which it makes informers of metadata and of tables. */
import { createMetadataListWatch, createTableListWatch } from 'rx-informer';

export const projections = { metadata: createMetadataListWatch, table: createTableListWatch };
