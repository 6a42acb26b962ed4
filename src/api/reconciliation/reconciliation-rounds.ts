/** Reconciles webhooks hourly, on request, and after an outage, which it detects from the time of the last round. */
import { duty } from '../../duties/duty.ts';
import { Composed } from '../../model/values/composed.ts';
import { MINUTE_MS } from '../../model/values/time.ts';
import type { Store } from '../../store/store.ts';
import type { WebhookDirectory } from '../../store/webhooks/webhook-directory.ts';
import type { WebhookInUse } from '../../store/webhooks/webhook-in-use.ts';
import { type ReconcileDeps, reconcileWebhook, SETTLE_MS } from './reconcile-webhook.ts';

/** Maximum number of webhooks that a process reconciles at once. */
const AT_ONCE = 4;
/** After this time, another process takes over from a dead one. Two processes at once would do no harm: every step can be repeated. */
const LOCK_MS = 30_000;
const DUE_MAX = 100;
/** Delay of a webhook that is paused, or that this process does not know yet. */
const DEFER_MS = 10_000;
/** Interval at which webhooks are entered: a process may have died before it entered one. */
const ENTER_MS = MINUTE_MS;
/** A gap between rounds is an outage if it is longer than this: a restart takes less. */
const OUTAGE_MS = MINUTE_MS;

export const webhookReconciling = duty<{ reconciliationRounds: ReconciliationRounds }>({
  name: 'webhook-reconciliation',
  about: 'Recovers requests that providers sent and that are missing',
  scope: 'process',
  everyMs: 1_000,
  rounds:
    ({ reconciliationRounds }) =>
    ({ signal }) =>
      reconciliationRounds.round(signal),
  end: ({ reconciliationRounds }) => reconciliationRounds.settled(),
});

export interface ReconciliationRoundsDeps extends ReconcileDeps, Pick<Store, 'locks'> {
  webhookDirectory: Pick<WebhookDirectory, 'reconciled'>;
}

export class ReconciliationRounds extends Composed<ReconciliationRoundsDeps> {
  readonly #inProgress = new Map<string, Promise<unknown>>();
  #enteredAt = 0;

  /** Starts work on webhooks that are due. */
  async round(signal: AbortSignal): Promise<void> {
    const { webhookDirectory, webhookReconciliations } = this.deps;
    const webhooks = new Map(webhookDirectory.reconciled.map((webhook) => [webhook.id, webhook]));
    const now = Date.now();
    if (webhooks.size > 0) await this.#noteAlive([...webhooks.keys()], now);
    else if (now - this.#enteredAt < ENTER_MS) return;
    else this.#enteredAt = now;
    for (const id of await webhookReconciliations.due(now, DUE_MAX)) {
      if (this.#inProgress.size >= AT_ONCE) break;
      if (this.#inProgress.has(id)) continue;
      const webhook = webhooks.get(id);
      if (!webhook) await this.#deferOrRemove(id, now);
      else if (webhook.pausedAt !== undefined) await webhookReconciliations.defer(id, now + DEFER_MS);
      else
        this.#inProgress.set(
          id,
          this.#workOn(webhook, signal).finally(() => this.#inProgress.delete(id)),
        );
    }
  }

  /** For a webhook that this process does not know. Another process may know it already, or may have entered it when it was just deleted. */
  async #deferOrRemove(id: string, now: number): Promise<void> {
    const { webhooks, webhookReconciliations } = this.deps;
    if ((await webhooks.read(id))?.reconciliation) await webhookReconciliations.defer(id, now + DEFER_MS);
    else await webhookReconciliations.remove(id);
  }

  /** Resolves when all work of a round is done. */
  async settled(): Promise<void> {
    await Promise.all(this.#inProgress.values());
  }

  /** Records that a process is alive. After an outage, all that was sent in the meantime is compared as soon as it has settled. */
  async #noteAlive(webhookIds: readonly string[], now: number): Promise<void> {
    const { webhookReconciliations } = this.deps;
    if (now - this.#enteredAt >= ENTER_MS) {
      await webhookReconciliations.enter(webhookIds);
      this.#enteredAt = now;
    }
    const last = await webhookReconciliations.lastAlive();
    if (last !== undefined && now - last > OUTAGE_MS) {
      const found = { outage: { from: last, to: now }, dueAt: now + SETTLE_MS };
      await Promise.all(webhookIds.map((id) => webhookReconciliations.change(id, found)));
    }
    // The time of this round is stored last: if this process dies before, another one sees the outage.
    await webhookReconciliations.noteAlive(now);
  }

  async #workOn(webhook: WebhookInUse, signal: AbortSignal): Promise<void> {
    const work = (lost: AbortSignal) => reconcileWebhook(webhook, this.deps, AbortSignal.any([signal, lost]));
    // If Redis is down, another round tries again.
    await this.deps.locks.withLock(`webhook-reconciliation:${webhook.id}`, LOCK_MS, work).catch(() => undefined);
  }
}
