/** What the test helper takes and gives. */
import type { AnyData, IncomingEvent, OutgoingEvent } from './events.ts';
import type { Logger } from './logger.ts';

export interface TestOptions<Data = AnyData> {
  /** What triggers the run. Default: an event of the function's first trigger, without data. */
  event?: { name?: string; data: Data } & Partial<Omit<IncomingEvent, 'name' | 'data'>>;
  /** For functions that take events in batches. Default: the one event. */
  events?: readonly IncomingEvent[];
  /** Stubs by step ID (`id`, `id:1`, …): the step is not run, and comes to this value, or to what this function returns;
   *  an Error, returned or thrown, fails it for good. For `waitForEvent`: an event, or null when none comes in time. */
  steps?: Readonly<Record<string, unknown>>;
  /** When the run starts. Sleeps and time-outs take no time, but end in the order of their moments. Default: now. */
  now?: number | Date;
  /** Default: the function's own. */
  retries?: number;
  /** Default: one that says nothing. */
  logger?: Logger;
}

export interface TestedStep {
  /** As in the code; the repeats of one are `id:1`, `id:2`, … */
  id: string;
  kind: 'run' | 'sleep' | 'waitForEvent' | 'invoke' | 'sendEvent';
  /** What it came to, as JSON. */
  data?: unknown;
  error?: { name: string; message: string };
}

export interface TestRun<Output = unknown> {
  /** The function's output, as JSON. */
  result?: Output;
  /** What the run failed with, its retries used up. */
  error?: unknown;
  /** In the order in which they were finished. */
  steps: TestedStep[];
  /** The events that `step.sendEvent` would have sent. */
  sent: OutgoingEvent[];
}
