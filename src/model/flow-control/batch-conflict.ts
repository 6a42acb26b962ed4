/** Options that a function with batches cannot have: each is about a single event, and a batch run has many. */
const NOT_WITH_BATCHES = ['rateLimit', 'idempotency', 'debounce', 'singleton', 'order', 'priority', 'cancel'] as const;

/** @param flow the function's flow control, without absent fields
 *  @returns undefined if there is no conflict */
export function batchConflict(
  flow: Readonly<Record<string, unknown>>,
  { cancel }: { cancel?: unknown },
): string | undefined {
  if (flow.batchEvents === undefined) return undefined;
  const given: Record<string, unknown> = {
    ...flow,
    cancel: Array.isArray(cancel) && cancel.length > 0 ? cancel : undefined,
  };
  const others = NOT_WITH_BATCHES.filter((field) => given[field] !== undefined);
  if (others.length === 0) return undefined;
  return `field "batchEvents": got it together with ${listed(others, 'and')}: it cannot be combined with ${listed(NOT_WITH_BATCHES, 'or')}`;
}

function listed(fields: readonly string[], conjunction: string): string {
  const names = fields.map((field) => `"${field}"`);
  return names.length === 1 ? (names[0] as string) : `${names.slice(0, -1).join(', ')} ${conjunction} ${names.at(-1)}`;
}
