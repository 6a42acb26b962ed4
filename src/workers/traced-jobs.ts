/** Traces job handlers. An ingest job holds the events of several requests, and starts a consumer span for each of them. BullMQ creates
 *  the span of a call or wake job. */
import type { Job } from 'bullmq';
import type { RunToStart } from '../jobs/flow-control/run-to-start.ts';
import { type IngestDeps, ingest } from '../jobs/ingestion/ingest.ts';
import { INGEST, type IngestJob, type RunJob } from '../jobs/queues/queues.ts';
import type { Envelope } from '../model/events/event.ts';
import { eventAttributes, messagingAttributes, runAttributes } from '../tracing/attributes.ts';
import type { Span, Tracing } from '../tracing/tracing.ts';

export async function traceIngest(job: Job<IngestJob>, deps: IngestDeps, tracing: Tracing): Promise<void> {
  const { events } = job.data;
  const spans = startSpans(job, tracing);
  if (spans.size === 0) return ingest(events, deps);
  const traceOf = tracesByEvent(events, spans, tracing);
  const withTrace = (run: RunToStart) => ({ ...run, trace: traceOf.get(run.event.internalId) });
  const starter = {
    start: (runs: readonly RunToStart[], nowMs: number) => deps.starter.start(runs.map(withTrace), nowMs),
  };
  try {
    await ingest(events, deps, starter);
  } catch (error) {
    for (const span of spans.values()) tracing.markFailed(span, (error as Error).name);
    throw error;
  } finally {
    for (const span of spans.values()) span.end();
  }
}

/** One span per request, below the span that its events carry. */
function startSpans({ id, data, attemptsMade }: Job<IngestJob>, tracing: Tracing): Map<string, Span> {
  const spans = new Map<string, Span>();
  for (const [trace, events] of Map.groupBy(data.events, (event) => event.trace)) {
    if (trace === undefined) continue;
    const { env, internalId, name } = events[0] as Envelope;
    const attributes = {
      ...messagingAttributes(INGEST, 'process', events.length),
      'bullmq.job.id': id ?? '',
      'bullmq.job.attempts.made': attemptsMade,
      'tidegate.environment': env,
      ...(events.length === 1 && eventAttributes(internalId, name)),
    };
    spans.set(trace, tracing.startSpan(`process ${INGEST}`, 'CONSUMER', attributes, trace));
  }
  return spans;
}

/** The parent span of the runs of each event, by its internal ID. */
function tracesByEvent(
  events: readonly Pick<Envelope, 'internalId' | 'trace'>[],
  spans: Map<string, Span>,
  tracing: Tracing,
): Map<string, string | undefined> {
  return new Map(
    events.flatMap(({ internalId, trace }) => {
      const span = trace && spans.get(trace);
      return span ? [[internalId, tracing.serializeSpan(span)] as const] : [];
    }),
  );
}

/** Adds attributes and errors to BullMQ's span of the job. */
export async function traceCallOrWake(
  { data }: Job<RunJob>,
  tracing: Tracing,
  work: () => Promise<void>,
): Promise<void> {
  const span = tracing.activeSpan();
  if (!span) return work();
  span.setAttributes({ ...runAttributes(data), 'tidegate.job.kind': data.kind });
  try {
    await work();
  } catch (error) {
    tracing.markFailed(span, (error as Error).name);
    throw error;
  }
}
