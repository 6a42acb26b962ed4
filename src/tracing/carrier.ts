/** Serializes span contexts for events, jobs and run records: a W3C traceparent and, after a space, the tracestate if there is one. Only
 *  recorded spans are serialized. */
import { createTraceState, type SpanContext, TraceFlags } from '@opentelemetry/api';

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-01$/;

export function isRecorded(span: SpanContext | undefined): span is SpanContext {
  return span !== undefined && (span.traceFlags & TraceFlags.SAMPLED) !== 0;
}

/** @returns undefined if the span is not recorded */
export function injectSpan(span: SpanContext | undefined): string | undefined {
  if (!isRecorded(span)) return undefined;
  const traceparent = `00-${span.traceId}-${span.spanId}-01`;
  const tracestate = span.traceState?.serialize();
  return tracestate ? `${traceparent} ${tracestate}` : traceparent;
}

/** @returns undefined for text that `injectSpan` did not create */
export function extractSpan(text: string): SpanContext | undefined {
  const end = text.indexOf(' ');
  const [, traceId, spanId] = TRACEPARENT.exec(end === -1 ? text : text.slice(0, end)) ?? [];
  if (!traceId || !spanId) return undefined;
  const context = { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true };
  return end === -1 ? context : { ...context, traceState: createTraceState(text.slice(end + 1)) };
}
