/** W3C traceparent of a recorded span, as stored in events, jobs and run records. Loads no part of OpenTelemetry. */
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-01$/;

export interface ParsedTrace {
  traceId: string;
  spanId: string;
  /** undefined: there is no recorded span. */
  tracestate: string | undefined;
}

/** @returns undefined for text that `injectSpan` (carrier.ts) did not create */
export function parseTrace(text: string): ParsedTrace | undefined {
  const end = text.indexOf(' ');
  const [, traceId, spanId] = TRACEPARENT.exec(end === -1 ? text : text.slice(0, end)) ?? [];
  if (!traceId || !spanId) return undefined;
  return { traceId, spanId, tracestate: end === -1 ? undefined : text.slice(end + 1) };
}
