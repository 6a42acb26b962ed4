/** Spans, as the service makes them. A trace begins at the door, with a request; everything else is recorded only below a span that is,
 *  so what the sampler leaves out costs nothing further. Neither payloads nor keys are ever told, nor what an app says of its errors:
 *  that may hold either. */
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

export type { Attributes, Span };
export type Kind = keyof typeof SpanKind;

export class Tracing {
  /** What BullMQ tells its spans to. */
  readonly jobs: JobTelemetry = jobTelemetry();
  /** Sends what has not been sent, for at most two seconds. */
  readonly close: () => Promise<void>;
  readonly #tracer: Tracer;

  constructor(tracer: Tracer, close: () => Promise<void>) {
    this.#tracer = tracer;
    this.close = close;
  }

  /** Answers a request in a span of its own, which goes on with the trace that the request's headers name.
   *  @param work is given the span; undefined: it is not recorded */
  async serve(headers: IncomingHttpHeaders, method: string, work: (span?: Span) => Promise<void>): Promise<void> {
    const parent = propagation.extract(ROOT_CONTEXT, headers);
    const attributes = { 'http.request.method': method };
    const span = this.#tracer.startSpan(method, { kind: SpanKind.SERVER, attributes }, parent);
    if (isRecorded(span.spanContext())) await this.#inside(span, parent, work);
    else await work();
  }

  /** Does the work in a span below the active one; where that is not recorded, does the work and no more. */
  async within<T>(
    name: string,
    kind: Kind,
    attributes: () => Attributes,
    work: (span?: Span) => Promise<T>,
  ): Promise<T> {
    const parent = context.active();
    if (!isRecorded(trace.getSpanContext(parent))) return work();
    const options = { kind: SpanKind[kind], attributes: attributes() };
    return this.#inside(this.#tracer.startSpan(name, options, parent), parent, work);
  }

  /** Begins a span below the one that is carried. Whoever begins it ends it. */
  begin(name: string, kind: Kind, attributes: Attributes, carried: string): Span {
    const above = extractSpan(carried);
    const parent = above ? trace.setSpanContext(ROOT_CONTEXT, above) : ROOT_CONTEXT;
    return this.#tracer.startSpan(name, { kind: SpanKind[kind], attributes }, parent);
  }

  /** The active span, where it is recorded. */
  active(): Span | undefined {
    const span = trace.getActiveSpan();
    return isRecorded(span?.spanContext()) ? span : undefined;
  }

  /** The span, or else the active one, as it is carried; undefined: it is not recorded, or there is none. */
  carried(span: Span | undefined = trace.getActiveSpan()): string | undefined {
    return injectSpan(span?.spanContext());
  }

  /** Notes that what the span is about has failed.
   *  @param kind of error, in a word */
  fail(span: Span, kind: string): void {
    span.setAttribute('error.type', kind);
    span.setStatus({ code: SpanStatusCode.ERROR });
  }

  /** Headers that name the active span to whoever is called. */
  headers(): Record<string, string> {
    const headers: Record<string, string> = {};
    propagation.inject(context.active(), headers);
    return headers;
  }

  async #inside<T>(span: Span, parent: Context, work: (span: Span) => Promise<T>): Promise<T> {
    try {
      return await context.with(trace.setSpan(parent, span), work, undefined, span);
    } catch (error) {
      this.fail(span, kindOf(error as Error));
      throw error;
    } finally {
      span.end();
    }
  }
}

/** The code of an error that has one: of our own catalogue, or the system's. */
function kindOf({ code, name }: Error & { code?: unknown }): string {
  return typeof code === 'string' ? code : name;
}
