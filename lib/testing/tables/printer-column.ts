/** The type of a printer column. */

/** A column of a custom resource: `additionalPrinterColumns` of its definition. */
export interface PrinterColumn {
  readonly name: string;
  /** `string`, `integer`, `number`, `boolean` or `date`, which prints an age. */
  readonly type: string;
  /** For example `.spec.size` or `.status.conditions[?(@.type=="Ready")].status`. */
  readonly jsonPath: string;
  readonly format?: string;
  readonly description?: string;
  /** Columns above 0 are shown only in wide output. @defaultValue 0 */
  readonly priority?: number;
}
