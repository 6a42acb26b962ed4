/** Writes the log of webhook requests, after they are answered: those that come together, together. What cannot be written leaves
 *  a line in the service's own log. */
import { setTimeout } from 'node:timers/promises';
import type { Telemetry } from '../../jobs/telemetry/telemetry.ts';
import type { Logger } from '../../log.ts';
import type { LoggedRequest, WebhookLog } from '../../store/webhooks/webhook-log.ts';

/** Bytes that may wait to be written before further requests go unlogged. */
const MAX_WAITING_BYTES = 64 * 1_048_576;
/** Between two writings. The first after a quiet time is written at once. */
const PACE_MS = 250;
/** Redis does nothing else while it takes a portion. */
const PORTION = { requests: 50, bytes: 1_048_576 };

export class RequestLogWriter {
  readonly #webhookLog: WebhookLog;
  readonly #reports: Telemetry;
  readonly #log: Logger;
  /** By webhook, in the order of their coming. */
  #waiting = new Map<string, LoggedRequest[]>();
  #waitingBytes = 0;
  #writing: Promise<void> | undefined;

  constructor(webhookLog: WebhookLog, reports: Telemetry, log: Logger) {
    this.#webhookLog = webhookLog;
    this.#reports = reports;
    this.#log = log;
  }

  record(webhookId: string, request: LoggedRequest): void {
    if (this.#waitingBytes + sizeOf(request) > MAX_WAITING_BYTES) {
      this.#lost(webhookId, request, 'too much waits');
      return;
    }
    const line = this.#waiting.get(webhookId);
    if (line === undefined) this.#waiting.set(webhookId, [request]);
    else line.push(request);
    this.#waitingBytes += sizeOf(request);
    if (line && line.length >= 2 * this.#webhookLog.maxRequests) this.#dropOldest(webhookId, line);
    this.#writing ??= this.#writeAll();
  }

  /** Resolves when all is written that was recorded before. */
  async settle(): Promise<void> {
    while (this.#writing) await this.#writing;
  }

  /** Newer requests would push them out of the log as soon as they were in it. */
  #dropOldest(webhookId: string, line: LoggedRequest[]): void {
    for (const request of line.splice(0, line.length - this.#webhookLog.maxRequests)) this.#done(webhookId, request);
  }

  async #writeAll(): Promise<void> {
    // After the requests that this turn of the event loop has read.
    await setTimeout(0);
    while (this.#waiting.size > 0) {
      const waiting = this.#waiting;
      this.#waiting = new Map();
      for (const [webhookId, line] of waiting) {
        this.#dropOldest(webhookId, line);
        for (const portion of inPortions(line)) await this.#write(webhookId, portion);
      }
      await setTimeout(PACE_MS);
    }
    this.#writing = undefined;
  }

  async #write(webhookId: string, portion: LoggedRequest[]): Promise<void> {
    try {
      await this.#webhookLog.add(webhookId, portion);
      for (const request of portion) this.#done(webhookId, request);
    } catch (error) {
      for (const request of portion) {
        this.#waitingBytes -= sizeOf(request);
        this.#lost(webhookId, request, (error as Error).message);
      }
    }
  }

  #done(webhookId: string, request: LoggedRequest): void {
    this.#waitingBytes -= sizeOf(request);
    const { id, outcome } = request.summary;
    this.#reports.publishWebhookRequest({ webhookId, id, outcome });
  }

  #lost(webhookId: string, { summary: { id, outcome, status, reason } }: LoggedRequest, why: string): void {
    this.#log.warn(
      { request_id: id, webhook_id: webhookId, outcome, status, reason, err: why },
      'webhook request not logged',
    );
  }
}

function sizeOf({ body }: LoggedRequest): number {
  return body?.length ?? 0;
}

function inPortions(line: readonly LoggedRequest[]): LoggedRequest[][] {
  const portions: LoggedRequest[][] = [];
  let bytes = 0;
  for (const request of line) {
    const last = portions.at(-1);
    bytes += sizeOf(request);
    if (last && last.length < PORTION.requests && bytes <= PORTION.bytes) {
      last.push(request);
    } else {
      portions.push([request]);
      bytes = sizeOf(request);
    }
  }
  return portions;
}
