/** Options and results of the test helper. */
import type { AnyData, IncomingEvent, OutgoingEvent } from './events.ts';
import type { Logger } from './logger.ts';
import type { MessageToPublish } from './publish.ts';

/** Absent fields are those of an event of the function's first trigger. */
export type TestEvent<Data = AnyData> = { name?: string; data: Data } & Partial<Omit<IncomingEvent, 'name' | 'data'>>;

export interface TestOptions<Data = AnyData> {
  /** The triggering event. Default: an event of the function's first trigger, without data. */
  event?: TestEvent<Data>;
  /** For functions that batch events. Default: the single event. */
  events?: readonly TestEvent<Data>[];
  /** Stubs by step ID (`id`, `id:1`, …): the step does not run; its result is this value or the return value of this function.
   *  An Error, returned or thrown, fails it permanently. For `waitForEvent` and
   *  `waitForSignal`: an event or signal, or null for its timeout. */
  steps?: Readonly<Record<string, unknown>>;
  /** Errors by ID of a step that runs in the app: its first attempts fail with them, and its code does not run. Then it is retried as usual. */
  failures?: Readonly<Record<string, readonly Error[]>>;
  /** Start time of the run. Sleeps and timeouts take no time, but end in chronological order. Default: now. */
  now?: number | Date;
  /** Default: the setting of the function. */
  retries?: number;
  /** Default: silent. */
  logger?: Logger;
}

export interface TestedStep {
  /** As in the code; repetitions are `id:1`, `id:2`, … */
  id: string;
  kind:
    | 'run'
    | 'transaction'
    | 'sleep'
    | 'waitForEvent'
    | 'waitForSignal'
    | 'invoke'
    | 'fetch'
    | 'infer'
    | 'sendEvent'
    | 'sendSignal'
    | 'publish';
  /** Result of the step, as JSON. */
  data?: unknown;
  error?: { name: string; message: string };
  /** Attempts that it took. */
  attempts: number;
  /** When it ended, by the clock of the run: sleeps and timeouts advance it. */
  endedAt: Date;
}

export interface TestRun<Output = unknown> {
  /** The function's output, as JSON. */
  result?: Output;
  /** The error of the run after its retries. */
  error?: unknown;
  /** In order of completion. */
  steps: TestedStep[];
  /** The events that `step.sendEvent` would have sent. */
  sent: OutgoingEvent[];
  /** The signals that `step.sendSignal` would have sent. */
  signals: { signal: string; data: unknown }[];
  /** The messages that `step.publish` would have published. */
  published: MessageToPublish[];
}
