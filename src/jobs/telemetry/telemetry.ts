/** What a process tells of itself and of its work: that it lives, what it counted, and what has just happened. Everything is gathered in
 *  memory and goes out from time to time, so that the work does not wait for it. What is told may be lost with the process. */
import { hostname } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import type { Outcome } from '../../functions/interpret-response.ts';
import type { Logger } from '../../log.ts';
import type { CallResult, MetricsRecorder } from '../../metrics/recorder.ts';
import { newId } from '../../model/ids.ts';
import type { Ending, Run, RunStatus } from '../../model/runs/run.ts';
import type { Stored } from '../../store/events/events.ts';
import { CounterBuffer, type RunCounter } from '../../store/telemetry/counter-buffer.ts';
import type { LiveUpdateOf, LiveUpdatePublisher } from '../../store/telemetry/live-updates.ts';
import type { Metrics } from '../../store/telemetry/metrics.ts';
import { BEAT_MS, type Processes, type ProcessKind, type ProcessStatus } from '../../store/telemetry/processes.ts';
import type { LogOutcome } from '../../store/webhooks/webhook-log.ts';

const FLUSH_MS = 1_000;
/** For what is still to be told when the process ends. */
const LAST_WORDS_MS = 2_000;

/** What is told of a run. */
type Moved = Pick<Run, 'env' | 'id' | 'functionId' | 'eventId'>;

const COUNTER_OF: Record<Ending['status'], RunCounter> = {
  Completed: 'completed',
  Failed: 'failed',
  Cancelled: 'cancelled',
};

export class Telemetry {
  readonly #metrics: Metrics;
  readonly #liveUpdates: LiveUpdatePublisher;
  readonly #meter: MetricsRecorder;
  #tally = new CounterBuffer();

  constructor(
    { metrics, liveUpdates }: { metrics: Metrics; liveUpdates: LiveUpdatePublisher },
    meter: MetricsRecorder,
  ) {
    this.#metrics = metrics;
    this.#liveUpdates = liveUpdates;
    this.#meter = meter;
  }

  /** Events have been wholly ingested. */
  ingested(batch: readonly Stored[], nowMs: number): void {
    for (const { event, repeat, ingested } of batch) {
      const { env, internalId, name, receivedAt, source } = event;
      if (repeat) {
        this.#tally.count(env, 'duplicates');
        this.#meter.duplicateIngested();
      }
      if (ingested || repeat) continue;
      this.#tally.count(env, 'events');
      this.#meter.eventIngested(Math.max(0, nowMs - receivedAt));
      this.#liveUpdates.publish(env, 'events', { id: internalId, name, receivedAt, source });
    }
  }

  /** The body of a request that sends events was read. */
  received(bytes: number): void {
    this.#meter.eventRequestReceived(bytes);
  }

  webhookAnswered(outcome: LogOutcome): void {
    this.#meter.webhookRequest(outcome);
  }

  /** A request to send events was answered, so long after it had come. */
  acknowledged(env: string, ms: number): void {
    this.#tally.time(env, 'ack', ms);
    this.#meter.eventsAcknowledged(ms);
  }

  /** A run's function is called for the first time, so long after it could have been. */
  started(run: Moved, ms: number): void {
    this.#tally.countRun(run.env, run.functionId, 'started');
    this.#tally.time(run.env, 'start', ms);
    this.#meter.runStarted(ms);
    this.moved(run, 'Running');
  }

  /** A function was called, and this came of it so long after. */
  called(outcome: Outcome, ms: number): void {
    this.#meter.functionCalled(resultOf(outcome), ms);
  }

  ended(run: Moved, status: Ending['status']): void {
    this.#tally.countRun(run.env, run.functionId, COUNTER_OF[status]);
    this.#meter.runEnded(status);
    this.moved(run, status);
  }

  /** There is something new to be seen of the run. */
  moved({ env, id, functionId, eventId }: Moved, status: RunStatus): void {
    this.#liveUpdates.publish(env, 'runs', { id, functionId, eventId, status });
  }

  held(id: string): void {
    this.#liveUpdates.publish(undefined, 'held-events', { id });
  }

  webhookRequest(request: LiveUpdateOf['webhook-requests']): void {
    this.#liveUpdates.publish(undefined, 'webhook-requests', request);
  }

  /** Writes what was counted. What Redis did not take is written with the next. */
  async flush(nowMs: number): Promise<void> {
    const tally = this.#tally;
    this.#tally = new CounterBuffer();
    try {
      await this.#metrics.add(tally, nowMs);
    } catch (error) {
      this.#tally.add(tally);
      throw error;
    }
  }

  /** Tells all that is left. */
  async flushAll(nowMs: number): Promise<void> {
    this.#liveUpdates.flush();
    await this.flush(nowMs);
  }
}

function resultOf(outcome: Outcome): CallResult {
  if (outcome.kind !== 'failed') return outcome.kind;
  if (outcome.noResponse) return 'no_response';
  return outcome.retriable ? 'failed' : 'failed_permanently';
}

export interface TelemetryReporter {
  /** Tells what is left, and that the process is gone. */
  close(): Promise<void>;
}

/** Begins to tell, and goes on until it is closed.
 *  @param more what else the process says of itself */
export function startTelemetry(
  reports: Telemetry,
  { processes }: { processes: Processes },
  kind: ProcessKind,
  log: Logger,
  more: () => Pick<ProcessStatus, 'slowedApps'> = () => ({}),
): TelemetryReporter {
  const self = { id: newId(), kind, host: hostname(), pid: process.pid, startedAt: Date.now() };
  const beat = () => processes.beat({ ...self, seenAt: Date.now(), memoryBytes: process.memoryUsage.rss(), ...more() });
  const ends = [every(FLUSH_MS, () => reports.flush(Date.now()), log), every(BEAT_MS, beat, log)];
  return {
    async close() {
      for (const end of ends) end();
      // Redis may be away: that is no reason not to end.
      const last = Promise.allSettled([reports.flushAll(Date.now()), processes.leave(self.id)]);
      await Promise.race([last, setTimeout(LAST_WORDS_MS, undefined, { ref: false })]);
    },
  };
}

/** Does it now and at intervals, never twice at once.
 *  @returns what ends it */
function every(ms: number, work: () => Promise<void>, log: Logger): () => void {
  let working = false;
  const round = async () => {
    if (working) return;
    working = true;
    await work().catch((error: Error) => log.debug({ err: error.message }, 'report'));
    working = false;
  };
  void round();
  const timer = setInterval(round, ms);
  return () => clearInterval(timer);
}
