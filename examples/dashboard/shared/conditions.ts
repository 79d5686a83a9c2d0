/** The conditions of objects. */

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

/** The condition of a type, if it has this status. */
export function conditionOf<C extends Condition>(
  { status }: { readonly status?: { readonly conditions?: readonly C[] } },
  type: string,
  is = 'True',
): C | undefined {
  return status?.conditions?.find((each) => each.type === type && each.status === is);
}
