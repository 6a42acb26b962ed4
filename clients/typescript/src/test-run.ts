/** In-memory state of one run for a test. */
import type { Call } from './call.ts';
import type { IncomingEvent, OutgoingEvent } from './events.ts';
import type { MessageToPublish } from './publish.ts';
import { momentMs } from './steps/duration.ts';
import type { Memo } from './steps/memo.ts';
import type { Op, OpCode } from './steps/op.ts';
import { type Ending, memoOf } from './test-stubs.ts';
import type { TestedStep } from './test-types.ts';

/** The ID of the one run. */
export const TEST_RUN = 'test-run';

export class RunInMemory {
  readonly steps: TestedStep[] = [];
  readonly sent: OutgoingEvent[] = [];
  readonly signals: { signal: string; data: unknown }[] = [];
  readonly published: MessageToPublish[] = [];
  readonly #events: IncomingEvent[];
  readonly #maxAttempts: number;
  readonly #memos: Record<string, Memo> = {};
  readonly #order: string[] = [];
  /** Ends of sleeps and waits, by hashed step ID. */
  readonly #endsMs = new Map<string, number>();
  #nowMs: number;

  constructor(events: IncomingEvent[], maxAttempts: number, nowMs: number) {
    this.#events = events;
    this.#maxAttempts = maxAttempts;
    this.#nowMs = nowMs;
  }

  /** Plans even a single step, so that it can be stubbed. */
  call(attempt: number): Call {
    return {
      event: this.#events[0] as IncomingEvent,
      events: this.#events,
      runId: TEST_RUN,
      rerunOf: [],
      attempt,
      maxAttempts: this.#maxAttempts,
      memos: { ...this.#memos },
      order: [...this.#order],
      disableImmediateExecution: true,
      takesLogs: false,
    };
  }

  /** @param stored the ending as the service would have it */
  finish(op: Op, ending: Ending, stored: Ending, attempts = 1): void {
    this.#memos[op.id] = memoOf(op, stored);
    this.#order.push(op.id);
    const endedAt = new Date(this.#nowMs);
    this.steps.push({ id: op.displayName, kind: kindOf(op), ...ending, attempts, endedAt });
  }

  /** Advances the time to the next end of a waiting step. */
  finishFirst(waiting: readonly Op[]): void {
    const first = waiting.reduce((a, b) => (this.#endOf(b) < this.#endOf(a) ? b : a));
    this.#nowMs = Math.max(this.#nowMs, this.#endOf(first));
    this.finish(first, { data: null }, { data: null });
  }

  /** Records events instead of sending them. */
  keep(events: readonly OutgoingEvent[]): { ids: string[] } {
    const ids = events.map((event) => `test-event-${this.sent.push(event)}`);
    return { ids };
  }

  #endOf({ id, opts }: Op): number {
    const known = this.#endsMs.get(id);
    if (known !== undefined) return known;
    const endMs = momentMs(String(opts?.timeout ?? opts?.duration), this.#nowMs);
    this.#endsMs.set(id, endMs);
    return endMs;
  }
}

const KINDS: Partial<Record<OpCode, TestedStep['kind']>> = {
  Sleep: 'sleep',
  WaitForEvent: 'waitForEvent',
  WaitForSignal: 'waitForSignal',
  Gateway: 'fetch',
  AIGateway: 'infer',
  InvokeFunction: 'invoke',
};

function kindOf({ op, opts }: Op): TestedStep['kind'] {
  if (opts?.type === 'step.sendEvent') return 'sendEvent';
  if (opts?.type === 'step.publish') return 'publish';
  if (opts?.type === 'step.transaction') return 'transaction';
  return KINDS[op] ?? (opts?.type === 'step.sendSignal' ? 'sendSignal' : 'run');
}
