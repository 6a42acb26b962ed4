/** Watches webhooks: counts their requests and failures in memory, and adds them to Redis every second, after the responses. A failure that
 *  opens an issue is reported immediately. Counts that Redis rejects are part of the next flush. */
import { duty } from '../../duties/duty.ts';
import type { Telemetry } from '../../jobs/telemetry/telemetry.ts';
import type { IssueNotifier } from '../../jobs/webhooks/issue-notifier.ts';
import type { Logger } from '../../log.ts';
import { Composed } from '../../model/values/composed.ts';
import type { LogSummary } from '../../model/webhooks/request-log.ts';
import type { Store } from '../../store/store.ts';
import type { Failures } from '../../store/webhooks/webhook-issues.ts';
import { WatchBuffer } from './watch-buffer.ts';

export const webhookWatching = duty<{ webhookWatcher: WebhookWatcher }>({
  name: 'webhook-traffic',
  about: 'Adds the counts of webhook requests to Redis',
  scope: 'process',
  everyMs: 1_000,
  // Short, because shutdown must not depend on Redis.
  lastRoundMs: 2_000,
  rounds:
    ({ webhookWatcher }) =>
    () =>
      webhookWatcher.flush(),
  end: ({ webhookWatcher }) => webhookWatcher.flush(),
});

export interface WebhookWatcherDeps extends Pick<Store, 'webhookIssues' | 'webhookTraffic' | 'webhooks'> {
  issueNotifier: IssueNotifier;
  telemetry: Telemetry;
  log: Logger;
}

export class WebhookWatcher extends Composed<WebhookWatcherDeps> {
  #buffer = new WatchBuffer();
  #flushing: Promise<void> | undefined;

  /** Records an answered request. */
  record(
    webhookId: string,
    summary: Pick<LogSummary, 'id' | 'receivedAt' | 'outcome' | 'reason' | 'message' | 'verification'>,
  ): void {
    this.#buffer.add(webhookId, summary);
  }

  /** Resolves when everything recorded so far is in Redis, or Redis has rejected it. */
  async flush(): Promise<void> {
    while (this.#flushing) await this.#flushing;
    if (this.#buffer.isEmpty) return;
    this.#flushing = this.#flush().finally(() => {
      this.#flushing = undefined;
    });
    await this.#flushing;
  }

  async #flush(): Promise<void> {
    const { webhookTraffic, log } = this.deps;
    const buffer = this.#buffer;
    this.#buffer = new WatchBuffer();
    const later = (error: Error) => log.debug({ err: error.message }, 'failures of webhooks are recorded later');
    await this.#recordFailures(buffer).catch(later);
    const traffic = buffer.takeTraffic();
    const left = await webhookTraffic.add(traffic).catch((error: Error) => {
      later(error);
      return traffic;
    });
    for (const batch of left) buffer.restoreTraffic(batch);
    this.#buffer.restore(buffer);
  }

  /** Removes recorded failures from the buffer. @throws the first error, after all are done */
  async #recordFailures(buffer: WatchBuffer): Promise<void> {
    const failures = buffer.failures();
    if (failures.length === 0) return;
    const there = await this.deps.webhooks.existing(failures.map(({ webhookId }) => webhookId));
    const recorded = await Promise.allSettled(
      failures.map(async (failure) => {
        // A deleted webhook has no issues.
        if (there.has(failure.webhookId)) await this.#record(failure);
        buffer.forget(failure);
      }),
    );
    for (const result of recorded) if (result.status === 'rejected') throw result.reason;
  }

  async #record(failure: Failures): Promise<void> {
    const { webhookIssues, issueNotifier, telemetry, log } = this.deps;
    const { webhookId, kind } = failure;
    const { id, happened, state, reopened } = await webhookIssues.record(failure, Date.now());
    telemetry.publishWebhookIssue({ id, webhookId, kind, state });
    if (happened === '') return;
    telemetry.recordWebhookIssue(kind);
    await issueNotifier
      .notify({ id, event: 'failing', reopened })
      .catch((error: Error) => log.debug({ issue: id, err: error.message }, 'a worker tells this issue later'));
  }
}
