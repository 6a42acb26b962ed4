/** Creates the spans of the service. A trace starts with a request; other spans are recorded only below a recorded span, so a trace
 *  that the sampler drops costs nothing more. Spans never contain payloads, keys or error messages of apps, which can contain either. */
import type { IncomingHttpHeaders } from 'node:http';
import {
  type Attributes,
  type Context,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { extractSpan, injectSpan, isRecorded } from './carrier.ts';
import { type JobTelemetry, jobTelemetry } from './job-telemetry.ts';

export type { Span };
export type Kind = keyof typeof SpanKind;

export class Tracing {
  /** BullMQ's `telemetry` option. */
  readonly jobs: JobTelemetry = jobTelemetry();
  /** Exports the remaining spans, for at most two seconds. */
  readonly close: () => Promise<void>;
  readonly #tracer: Tracer;

  constructor(tracer: Tracer, close: () => Promise<void>) {
    this.#tracer = tracer;
    this.close = close;
  }

  /** Handles a request in a span that continues the trace of the request's headers.
   *  @param work receives the span; undefined: it is not recorded */
  async traceRequest(
    headers: IncomingHttpHeaders,
    method: string,
    work: (span?: Span) => Promise<void>,
  ): Promise<void> {
    const parent = propagation.extract(ROOT_CONTEXT, headers);
    const attributes = { 'http.request.method': method };
    const span = this.#tracer.startSpan(method, { kind: SpanKind.SERVER, attributes }, parent);
    if (isRecorded(span.spanContext())) await this.#run(span, parent, work);
    else await work();
  }

  /** Runs the work in a child span of the active one. If that is not recorded, only runs the work. */
  async withSpan<T>(
    name: string,
    kind: Kind,
    attributes: () => Attributes,
    work: (span?: Span) => Promise<T>,
  ): Promise<T> {
    const parent = context.active();
    if (!isRecorded(trace.getSpanContext(parent))) return work();
    const options = { kind: SpanKind[kind], attributes: attributes() };
    return this.#run(this.#tracer.startSpan(name, options, parent), parent, work);
  }

  /** Starts a child span of a serialized one. The caller ends it. */
  startSpan(name: string, kind: Kind, attributes: Attributes, serializedParent: string): Span {
    const parentSpan = extractSpan(serializedParent);
    const parent = parentSpan ? trace.setSpanContext(ROOT_CONTEXT, parentSpan) : ROOT_CONTEXT;
    return this.#tracer.startSpan(name, { kind: SpanKind[kind], attributes }, parent);
  }

  /** The active span, if it is recorded. */
  activeSpan(): Span | undefined {
    const span = trace.getActiveSpan();
    return isRecorded(span?.spanContext()) ? span : undefined;
  }

  /** Serializes a span, by default the active span; undefined if there is no span, or it is not recorded. */
  serializeSpan(span: Span | undefined = trace.getActiveSpan()): string | undefined {
    return injectSpan(span?.spanContext());
  }

  /** Records that the operation of the span failed.
   *  @param errorType an error code, status or name */
  markFailed(span: Span, errorType: string): void {
    span.setAttribute('error.type', errorType);
    span.setStatus({ code: SpanStatusCode.ERROR });
  }

  /** Headers that propagate the active span to the callee. */
  propagationHeaders(): Record<string, string> {
    const headers: Record<string, string> = {};
    propagation.inject(context.active(), headers);
    return headers;
  }

  async #run<T>(span: Span, parent: Context, work: (span: Span) => Promise<T>): Promise<T> {
    try {
      return await context.with(trace.setSpan(parent, span), work, undefined, span);
    } catch (error) {
      this.markFailed(span, errorTypeOf(error as Error));
      throw error;
    } finally {
      span.end();
    }
  }
}

/** The code of the error, if it has one: of our own catalog, or of the system. */
function errorTypeOf({ code, name }: Error & { code?: unknown }): string {
  return typeof code === 'string' ? code : name;
}
