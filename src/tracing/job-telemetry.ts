/** BullMQ's spans, created by its OpenTelemetry package, filtered: BullMQ's housekeeping would create traces as long as
 *  the process runs, and two or three spans without information per job. Only the spans of adding and processing a job
 *  remain, if they belong to a recorded trace. */
import { type Context, context, ROOT_CONTEXT, type SpanContext, SpanKind, trace } from '@opentelemetry/api';
import { BullMQOtel } from 'bullmq-otel';
import { extractSpan, injectSpan, isRecorded } from './carrier.ts';

type Tracer = BullMQOtel['tracer'];
type JobSpan = ReturnType<Tracer['startSpan']>;
type Contexts = BullMQOtel['contextManager'];

/** The part of BullMQ's `Telemetry` that it uses. */
export interface JobTelemetry {
  tracer: Pick<Tracer, 'startSpan'>;
  contextManager: Pick<Contexts, 'with' | 'active' | 'getMetadata' | 'fromMetadata'> & { root(): Context };
}

const noop = () => {};
const UNRECORDED: JobSpan = {
  setSpanOnContext: (ctx: Context) => ctx,
  setAttribute: noop,
  setAttributes: noop,
  addEvent: noop,
  recordException: noop,
  end: noop,
};

export function jobTelemetry(): JobTelemetry {
  const { tracer, contextManager } = new BullMQOtel({ tracerName: 'tidegate' });
  return {
    tracer: {
      startSpan(name, options, parent = context.active()) {
        if (options?.kind === SpanKind.INTERNAL || !isRecorded(spanIn(parent))) return UNRECORDED;
        const span = tracer.startSpan(name, options, parent);
        // These would record error messages, which can come from the app.
        return Object.assign(span, { addEvent: noop, recordException: noop });
      },
    },
    contextManager: {
      with: (ctx, fn) => contextManager.with(ctx, fn),
      active: () => contextManager.active(),
      root: () => ROOT_CONTEXT,
      // A span that is not recorded adds nothing to the job.
      getMetadata: (ctx) => injectSpan(spanIn(ctx)) ?? '',
      fromMetadata: (active, serialized) => {
        const span = extractSpan(serialized);
        return span ? trace.setSpanContext(active, span) : active;
      },
    },
  };
}

function spanIn(ctx: Context): SpanContext | undefined {
  return trace.getSpanContext(ctx);
}
