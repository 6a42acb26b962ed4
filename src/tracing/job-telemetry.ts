/** BullMQ's spans, as its OpenTelemetry package makes them, less those that nobody asked for: its housekeeping would make traces of its
 *  own for as long as the process lives, and each job two or three spans that say nothing. What is left is who adds a job, and the work
 *  on it, where these belong to a trace that is recorded. */
import { type Context, context, ROOT_CONTEXT, type SpanContext, SpanKind, trace } from '@opentelemetry/api';
import { BullMQOtel } from 'bullmq-otel';
import { extractSpan, injectSpan, isRecorded } from './carrier.ts';

type Tracer = BullMQOtel['tracer'];
type JobSpan = ReturnType<Tracer['startSpan']>;
type Contexts = BullMQOtel['contextManager'];

/** What BullMQ knows as its `Telemetry`. */
export interface JobTelemetry {
  tracer: Pick<Tracer, 'startSpan'>;
  contextManager: Pick<Contexts, 'with' | 'active' | 'getMetadata' | 'fromMetadata'> & { root(): Context };
}

const nothing = () => {};
const UNRECORDED: JobSpan = {
  setSpanOnContext: (ctx: Context) => ctx,
  setAttribute: nothing,
  setAttributes: nothing,
  addEvent: nothing,
  recordException: nothing,
  end: nothing,
};

export function jobTelemetry(): JobTelemetry {
  const { tracer, contextManager } = new BullMQOtel({ tracerName: 'tidegate' });
  return {
    tracer: {
      startSpan(name, options, parent = context.active()) {
        if (options?.kind === SpanKind.INTERNAL || !isRecorded(spanIn(parent))) return UNRECORDED;
        const span = tracer.startSpan(name, options, parent);
        // They would quote the error, which may be in the words of the app.
        return Object.assign(span, { addEvent: nothing, recordException: nothing });
      },
    },
    contextManager: {
      with: (ctx, fn) => contextManager.with(ctx, fn),
      active: () => contextManager.active(),
      root: () => ROOT_CONTEXT,
      // What is not recorded leaves nothing in the job.
      getMetadata: (ctx) => injectSpan(spanIn(ctx)) ?? '',
      fromMetadata: (active, carried) => {
        const span = extractSpan(carried);
        return span ? trace.setSpanContext(active, span) : active;
      },
    },
  };
}

function spanIn(ctx: Context): SpanContext | undefined {
  return trace.getSpanContext(ctx);
}
