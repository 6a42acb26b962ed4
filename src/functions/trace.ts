/** W3C trace context, made of the IDs that the service has anyway: everything one request caused shares a trace. */
import { ulidToUUID } from 'ulid';

/** `00-<trace>-<span>-01`: the trace is the request's ID, the span the random end of the run's. */
export function traceparentOf(requestId: string, runId: string): string {
  const hex = (id: string) => ulidToUUID(id).replaceAll('-', '').toLowerCase();
  return `00-${hex(requestId)}-${hex(runId).slice(16)}-01`;
}
