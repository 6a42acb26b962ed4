/** Serializes span contexts for events, jobs and run records: a W3C traceparent and, after a space, the tracestate if there is one. Only
 *  recorded spans are serialized. */
import { createTraceState, type SpanContext, TraceFlags } from '@opentelemetry/api';
import { parseTrace } from './traceparent.ts';

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
  const parsed = parseTrace(text);
  if (!parsed) return undefined;
  const { traceId, spanId, tracestate } = parsed;
  const context = { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true };
  return tracestate === undefined ? context : { ...context, traceState: createTraceState(tracestate) };
}
