/** Writes the request logs of webhooks after the response, in batches. A request that cannot be logged leaves a line in the service log. */
import { setTimeout } from 'node:timers/promises';
import type { Telemetry } from '../../jobs/telemetry/telemetry.ts';
import type { Logger } from '../../log.ts';
import type { LoggedRequest, WebhookLog } from '../../store/webhooks/webhook-log.ts';

/** Maximum bytes of buffered requests; beyond that, requests are not logged. */
const MAX_BUFFERED_BYTES = 64 * 1_048_576;
/** Size of a request apart from its texts. */
const OVERHEAD_BYTES = 1_024;
/** Minimum time between two batches. The first request after a pause is written at once. */
const INTERVAL_MS = 250;
/** Number of rounds that a log is skipped after a round that replaced all its requests. */
const RESTS = 3;
/** With more buffered bytes than this, no log is skipped. */
const SOON_BYTES = MAX_BUFFERED_BYTES / 4;
/** Maximum batch, which blocks Redis while it is executed. */
const BATCH = { requests: 50, bytes: 1_048_576 };

export class RequestLogWriter {
  readonly #webhookLog: WebhookLog;
  readonly #telemetry: Telemetry;
  readonly #log: Logger;
  /** Requests to write, by webhook, oldest first. */
  readonly #buffer = new Map<string, LoggedRequest[]>();
  #bufferedBytes = 0;
  /** Number of rounds that a webhook's requests are still skipped. */
  readonly #resting = new Map<string, number>();
  #isFlushing = false;
  #writing: Promise<void> | undefined;

  constructor(webhookLog: WebhookLog, telemetry: Telemetry, log: Logger) {
    this.#webhookLog = webhookLog;
    this.#telemetry = telemetry;
    this.#log = log;
  }

  add(webhookId: string, request: LoggedRequest): void {
    if (this.#bufferedBytes + sizeOf(request) > MAX_BUFFERED_BYTES) {
      this.#warnLost(webhookId, request, 'the buffer is full');
      return;
    }
    const requests = this.#buffer.get(webhookId);
    if (requests === undefined) this.#buffer.set(webhookId, [request]);
    else requests.push(request);
    this.#bufferedBytes += sizeOf(request);
    if (requests && requests.length >= 2 * this.#webhookLog.maxRequests) this.#dropOldest(webhookId, requests);
    this.#writing ??= this.#writeAll();
  }

  /** Resolves when everything added before is written. */
  async flush(): Promise<void> {
    this.#isFlushing = true;
    while (this.#writing) await this.#writing;
    this.#isFlushing = false;
  }

  /** Drops requests that newer ones would displace from the log at once. */
  #dropOldest(webhookId: string, requests: LoggedRequest[]): void {
    const dropped = requests.splice(0, requests.length - this.#webhookLog.maxRequests);
    for (const request of dropped) this.#finish(webhookId, request);
  }

  async #writeAll(): Promise<void> {
    // Lets this turn of the event loop add its other requests first.
    await setTimeout(0);
    while (this.#buffer.size > 0) {
      for (const [webhookId, requests] of [...this.#buffer]) {
        if (this.#rests(webhookId)) continue;
        this.#buffer.delete(webhookId);
        this.#restIfFull(webhookId, requests);
        this.#dropOldest(webhookId, requests);
        for (const batch of inBatches(requests)) await this.#write(webhookId, batch);
      }
      await setTimeout(INTERVAL_MS);
    }
    this.#resting.clear();
    this.#writing = undefined;
  }

  /** Writes fast logs less often: most of their requests would be dropped before anybody reads them. */
  #restIfFull(webhookId: string, requests: readonly LoggedRequest[]): void {
    const { maxRequests } = this.#webhookLog;
    if (maxRequests > 0 && requests.length >= maxRequests) this.#resting.set(webhookId, RESTS);
  }

  #rests(webhookId: string): boolean {
    const rounds = this.#resting.get(webhookId) ?? 0;
    if (rounds > 0 && !this.#isFlushing && this.#bufferedBytes <= SOON_BYTES) {
      this.#resting.set(webhookId, rounds - 1);
      return true;
    }
    this.#resting.delete(webhookId);
    return false;
  }

  async #write(webhookId: string, batch: LoggedRequest[]): Promise<void> {
    try {
      await this.#webhookLog.add(webhookId, batch);
      for (const request of batch) this.#finish(webhookId, request);
    } catch (error) {
      for (const request of batch) {
        this.#bufferedBytes -= sizeOf(request);
        this.#warnLost(webhookId, request, (error as Error).message);
      }
    }
  }

  #finish(webhookId: string, request: LoggedRequest): void {
    this.#bufferedBytes -= sizeOf(request);
    const { id, outcome } = request.summary;
    this.#telemetry.publishWebhookRequest({ webhookId, id, outcome });
  }

  #warnLost(webhookId: string, { summary: { id, outcome, status, reason } }: LoggedRequest, err: string): void {
    this.#log.warn(
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

function inBatches(requests: readonly LoggedRequest[]): LoggedRequest[][] {
  const batches: LoggedRequest[][] = [];
  let bytes = 0;
  for (const request of requests) {
    const last = batches.at(-1);
    bytes += sizeOf(request);
    if (last && last.length < BATCH.requests && bytes <= BATCH.bytes) {
      last.push(request);
    } else {
      batches.push([request]);
      bytes = sizeOf(request);
    }
  }
  return batches;
}
