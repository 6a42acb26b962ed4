/** Requests and failures of webhooks in one process between two writes to Redis: counts, and the last failure of each kind. */
import { timeOf } from '../../model/ids.ts';
import { HOUR_MS } from '../../model/values/time.ts';
import { type IssueKind, kindOfCode } from '../../model/webhooks/issue.ts';
import type { LogSummary } from '../../model/webhooks/request-log.ts';
import { type Failures, REASONS_MAX } from '../../store/webhooks/webhook-issues.ts';
import { TRAFFIC_COUNTS, type TrafficBatch, type TrafficCounts } from '../../store/webhooks/webhook-traffic.ts';

const MESSAGE_MAX_LENGTH = 500;
const REASON_MAX_LENGTH = 100;
/** Maximum number of webhooks counted at a time. */
const WEBHOOKS_MAX = 20_000;
const OTHER = 'other';

type Watched = Pick<LogSummary, 'id' | 'receivedAt' | 'outcome' | 'reason' | 'message' | 'verification'>;

const COUNT_OF = { accepted: 'accepted', rejected: 'rejected', filtered: 'filtered' } as const satisfies Partial<
  Record<LogSummary['outcome'], keyof TrafficCounts>
>;

export class WatchBuffer {
  /** The current hour of each webhook. */
  readonly #traffic = new Map<string, TrafficBatch>();
  /** Hours that have ended, or that Redis rejected. */
  readonly #ended = new Map<string, TrafficBatch>();
  /** Key: webhook and kind. */
  readonly #failures = new Map<string, Failures>();

  get isEmpty(): boolean {
    return this.#traffic.size + this.#ended.size + this.#failures.size === 0;
  }

  add(webhookId: string, request: Watched): void {
    const { receivedAt, outcome, reason } = request;
    const batch = this.#batchOf(webhookId, receivedAt);
    if (batch) {
      batch.requests++;
      const name = COUNT_OF[outcome as keyof typeof COUNT_OF];
      if (name !== undefined) batch[name]++;
      if (reason === 'verification_failed') batch.unverified++;
      noteReceipt(batch, receivedAt);
    }
    const kind = outcome === 'rejected' && reason !== undefined ? kindOfCode(reason) : undefined;
    if (kind) this.#addFailure(webhookId, kind, request);
  }

  /** Takes all traffic out of the buffer. */
  takeTraffic(): TrafficBatch[] {
    const all = [...this.#ended.values(), ...this.#traffic.values()];
    this.#ended.clear();
    this.#traffic.clear();
    return all;
  }

  failures(): Failures[] {
    return [...this.#failures.values()];
  }

  /** Removes recorded failures. */
  forget({ webhookId, kind }: Failures): void {
    this.#failures.delete(keyOf(webhookId, kind));
  }

  /** Adds back what another buffer could not write. */
  restore(other: WatchBuffer): void {
    for (const failure of other.#failures.values()) this.#restoreFailure(failure);
    for (const batch of other.takeTraffic()) this.restoreTraffic(batch);
  }

  restoreTraffic(batch: TrafficBatch): void {
    const key = `${batch.webhookId} ${batch.hour}`;
    const same = this.#ended.get(key);
    if (same) merge(same, batch);
    else if (this.#ended.size < WEBHOOKS_MAX) this.#ended.set(key, batch);
  }

  #batchOf(webhookId: string, receivedAt: number): TrafficBatch | undefined {
    const hour = Math.floor(receivedAt / HOUR_MS);
    const present = this.#traffic.get(webhookId);
    if (present?.hour === hour) return present;
    if (present) this.restoreTraffic(present);
    else if (this.#traffic.size >= WEBHOOKS_MAX) return undefined;
    const batch = {
      webhookId,
      hour,
      requests: 0,
      accepted: 0,
      rejected: 0,
      filtered: 0,
      unverified: 0,
      firstAt: receivedAt,
      lastAt: receivedAt,
      longestGapMs: 0,
    };
    this.#traffic.set(webhookId, batch);
    return batch;
  }

  #addFailure(
    webhookId: string,
    kind: IssueKind,
    { id, receivedAt, reason = '', message = '', verification }: Watched,
  ): void {
    // The time by which the log finds the request, possibly just before its receipt.
    const at = Math.min(receivedAt, timeOf(id));
    const named = (kind === 'verification' ? verification?.reason : undefined) ?? reason;
    const sample = {
      requestId: id,
      reason: named.slice(0, REASON_MAX_LENGTH),
      message: message.slice(0, MESSAGE_MAX_LENGTH),
      at,
    };
    const present = this.#failures.get(keyOf(webhookId, kind));
    if (!present) {
      if (this.#failures.size >= WEBHOOKS_MAX) return;
      const times = { firstAt: at, lastAt: at };
      const failure = { webhookId, kind, ...times, count: 1, reasons: { [sample.reason]: 1 }, sample };
      this.#failures.set(keyOf(webhookId, kind), failure);
      return;
    }
    present.count++;
    addReason(present.reasons, sample.reason, 1);
    present.firstAt = Math.min(present.firstAt, at);
    if (at < present.lastAt) return;
    present.lastAt = at;
    present.sample = sample;
  }

  #restoreFailure(failure: Failures): void {
    const key = keyOf(failure.webhookId, failure.kind);
    const present = this.#failures.get(key);
    if (!present) {
      this.#failures.set(key, failure);
      return;
    }
    present.count += failure.count;
    present.firstAt = Math.min(present.firstAt, failure.firstAt);
    for (const [reason, count] of Object.entries(failure.reasons)) addReason(present.reasons, reason, count);
    if (failure.lastAt <= present.lastAt) return;
    present.lastAt = failure.lastAt;
    present.sample = failure.sample;
  }
}

function keyOf(webhookId: string, kind: IssueKind): string {
  return `${webhookId} ${kind}`;
}

function noteReceipt(batch: TrafficBatch, receivedAt: number): void {
  batch.longestGapMs = Math.max(batch.longestGapMs, receivedAt - batch.lastAt);
  batch.firstAt = Math.min(batch.firstAt, receivedAt);
  batch.lastAt = Math.max(batch.lastAt, receivedAt);
}

function merge(into: TrafficBatch, batch: TrafficBatch): void {
  for (const name of TRAFFIC_COUNTS) into[name] += batch[name];
  const between = Math.max(batch.firstAt - into.lastAt, into.firstAt - batch.lastAt, 0);
  into.longestGapMs = Math.max(into.longestGapMs, batch.longestGapMs, between);
  into.firstAt = Math.min(into.firstAt, batch.firstAt);
  into.lastAt = Math.max(into.lastAt, batch.lastAt);
}

function addReason(reasons: Record<string, number>, reason: string, count: number): void {
  const isKnown = Object.hasOwn(reasons, reason);
  const name = isKnown || Object.keys(reasons).length < REASONS_MAX - 1 ? reason : OTHER;
  reasons[name] = (reasons[name] ?? 0) + count;
}
