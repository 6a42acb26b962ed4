/** Writes the request logs of webhooks after the response, in batches. A request that cannot be logged leaves a line in the service log. */
import { setTimeout } from 'node:timers/promises';
import type { Telemetry } from '../../jobs/telemetry/telemetry.ts';
import type { Logger } from '../../log.ts';
import { Composed } from '../../model/values/composed.ts';
import type { LoggedRequest } from '../../model/webhooks/request-log.ts';
import type { WebhookLog } from '../../store/webhooks/webhook-log.ts';
import { type BufferedRequest, NewestRequests } from './newest-requests.ts';

/** Maximum bytes of buffered requests; beyond that, requests are not logged. */
const MAX_BUFFERED_BYTES = 64 * 1_048_576;
/** Size of a request without its texts. */
const OVERHEAD_BYTES = 1_024;
/** Minimum time between two batches. The first request after a pause is written immediately. */
const INTERVAL_MS = 250;
/** Number of rounds that a log is skipped after a round that replaced all its requests. */
const RESTS = 3;
/** Above this number of buffered bytes, no log is skipped. */
const SOON_BYTES = MAX_BUFFERED_BYTES / 4;
/** Maximum batch, which blocks Redis while it is executed. */
const BATCH = { requests: 50, bytes: 1_048_576 };

export class RequestLogWriter extends Composed<{ webhookLog: WebhookLog; telemetry: Telemetry; log: Logger }> {
  /** Requests to write, by webhook. */
  readonly #buffer = new Map<string, NewestRequests>();
  #bufferedBytes = 0;
  /** Number of rounds that a webhook's requests are still skipped. */
  readonly #resting = new Map<string, number>();
  #isFlushing = false;
  #writing: Promise<void> | undefined;

  add(webhookId: string, request: LoggedRequest): void {
    const bytes = sizeOf(request);
    if (this.#bufferedBytes + bytes > MAX_BUFFERED_BYTES) {
      this.#warnLost(webhookId, request, 'the buffer is full');
      return;
    }
    let requests = this.#buffer.get(webhookId);
    if (requests === undefined) {
      requests = new NewestRequests(this.deps.webhookLog.maxRequests);
      this.#buffer.set(webhookId, requests);
    }
    this.#bufferedBytes += bytes;
    const displaced = requests.add({ request, bytes });
    if (displaced) this.#finish(webhookId, displaced);
    this.#writing ??= this.#writeAll();
  }

  /** Resolves when everything added before is written. */
  async flush(): Promise<void> {
    this.#isFlushing = true;
    while (this.#writing) await this.#writing;
    this.#isFlushing = false;
  }

  async #writeAll(): Promise<void> {
    // Lets this turn of the event loop add its other requests first.
    await setTimeout(0);
    while (this.#buffer.size > 0) {
      for (const [webhookId, requests] of [...this.#buffer]) {
        if (this.#rests(webhookId)) continue;
        this.#buffer.delete(webhookId);
        if (requests.isFull) this.#resting.set(webhookId, RESTS);
        for (const batch of inBatches(requests.inOrder())) await this.#write(webhookId, batch);
      }
      await setTimeout(INTERVAL_MS);
    }
    this.#resting.clear();
    this.#writing = undefined;
  }

  /** Fast logs are written less often: most of their requests would be dropped before anybody reads them. */
  #rests(webhookId: string): boolean {
    const rounds = this.#resting.get(webhookId) ?? 0;
    if (rounds > 0 && !this.#isFlushing && this.#bufferedBytes <= SOON_BYTES) {
      this.#resting.set(webhookId, rounds - 1);
      return true;
    }
    this.#resting.delete(webhookId);
    return false;
  }

  async #write(webhookId: string, batch: BufferedRequest[]): Promise<void> {
    try {
      await this.deps.webhookLog.add(
        webhookId,
        batch.map(({ request }) => request),
      );
      for (const buffered of batch) this.#finish(webhookId, buffered);
    } catch (error) {
      for (const { request, bytes } of batch) {
        this.#bufferedBytes -= bytes;
        this.#warnLost(webhookId, request, (error as Error).message);
      }
    }
  }

  #finish(webhookId: string, { request, bytes }: BufferedRequest): void {
    this.#bufferedBytes -= bytes;
    const { id, outcome } = request.summary;
    this.deps.telemetry.publishWebhookRequest({ webhookId, id, outcome });
  }

  #warnLost(webhookId: string, { summary: { id, outcome, status, reason } }: LoggedRequest, err: string): void {
    this.deps.log.warn(
      { request_id: id, webhook_id: webhookId, outcome, status, reason, err },
      'webhook request not logged',
    );
  }
}

/** Approximate memory of a request. */
function sizeOf({ summary, headers, search, body }: LoggedRequest): number {
  let bytes = OVERHEAD_BYTES + (body?.length ?? 0) + search.length + (summary.message?.length ?? 0);
  for (const name in headers) bytes += name.length + String(headers[name]).length;
  for (const { text } of summary.console) bytes += text.length;
  return bytes;
}

function inBatches(requests: readonly BufferedRequest[]): BufferedRequest[][] {
  const batches: BufferedRequest[][] = [];
  let total = 0;
  for (const buffered of requests) {
    const last = batches.at(-1);
    total += buffered.bytes;
    if (last && last.length < BATCH.requests && total <= BATCH.bytes) {
      last.push(buffered);
    } else {
      batches.push([buffered]);
      total = buffered.bytes;
    }
  }
  return batches;
}
