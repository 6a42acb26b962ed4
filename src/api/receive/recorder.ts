/** Writes the log of webhook requests, after they are answered. What cannot be written leaves a line in the service's own log. */
import type { Reports } from '../../jobs/reports.ts';
import type { Logger } from '../../log.ts';
import type { LoggedRequest, WebhookLog } from '../../store/webhook-log.ts';

/** Bytes that may wait to be written before further requests go unlogged. */
const MAX_WAITING_BYTES = 64 * 1_048_576;

export class Recorder {
  readonly #webhookLog: WebhookLog;
  readonly #reports: Reports;
  readonly #log: Logger;
  readonly #writing = new Set<Promise<void>>();
  #waitingBytes = 0;

  constructor(webhookLog: WebhookLog, reports: Reports, log: Logger) {
    this.#webhookLog = webhookLog;
    this.#reports = reports;
    this.#log = log;
  }

  record(webhookId: string, request: LoggedRequest): void {
    const bytes = request.body?.length ?? 0;
    if (this.#waitingBytes + bytes > MAX_WAITING_BYTES) {
      this.#lost(webhookId, request, 'too much waits');
      return;
    }
    this.#waitingBytes += bytes;
    const { id, outcome } = request.summary;
    const writing = this.#webhookLog
      .add(webhookId, request)
      .then(() => this.#reports.webhookRequest({ webhookId, id, outcome }))
      .catch((error: Error) => this.#lost(webhookId, request, error.message))
      .finally(() => {
        this.#waitingBytes -= bytes;
        this.#writing.delete(writing);
      });
    this.#writing.add(writing);
  }

  /** Resolves when all is written that was recorded before. */
  async settle(): Promise<void> {
    await Promise.all(this.#writing);
  }

  #lost(webhookId: string, { summary: { id, outcome, status, reason } }: LoggedRequest, why: string): void {
    this.#log.warn(
      { request_id: id, webhook_id: webhookId, outcome, status, reason, err: why },
      'webhook request not logged',
    );
  }
}
