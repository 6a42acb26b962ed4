/** Sends events about issues of webhooks (docs/webhooks.md#issues). The process that opens or resolves an issue sends its event; a worker sends
 *  events that are still pending. The event has the same ID each time, so it is accepted once. */

import { BRANCHES, PRODUCTION } from '../../model/environment.ts';
import { type Event, WEBHOOK_FAILING, WEBHOOK_RECOVERED } from '../../model/events/event.ts';
import { Composed } from '../../model/values/composed.ts';
import { iso } from '../../model/values/time.ts';
import type { Store } from '../../store/store.ts';
import type { Webhook } from '../../store/webhooks/webhook.ts';
import type { NotificationContent, PendingNotification } from '../../store/webhooks/webhook-issues.ts';
import type { Acceptor } from '../acceptance/acceptor.ts';

const NAMES = { failing: WEBHOOK_FAILING, recovered: WEBHOOK_RECOVERED } as const;

export interface IssueNotifierDeps extends Pick<Store, 'keys' | 'ids' | 'webhooks' | 'webhookIssues'> {
  acceptor: Pick<Acceptor, 'acceptWithId'>;
  /** undefined: events have no link to the dashboard. */
  publicUrl: string | undefined;
}

export class IssueNotifier extends Composed<IssueNotifierDeps> {
  /** @throws ServiceError unavailable when Redis rejects the event: it stays pending */
  async notify(pending: PendingNotification): Promise<void> {
    const { keys, ids, webhooks, webhookIssues, acceptor, publicUrl } = this.deps;
    const { id, event, reopened } = pending;
    const content = await webhookIssues.notificationContent(pending);
    const webhook = content && (await webhooks.read(content.webhookId));
    if (content && webhook) {
      const eventId = ids.ownEvent(content.at, keys.of(id).number, 'webhook-issue', id, event, String(reopened));
      await acceptor.acceptWithId({ name: NAMES[event], data: dataOf(pending, content, webhook, publicUrl) }, eventId, {
        env: webhook.env === BRANCHES ? PRODUCTION : webhook.env,
        source: 'service',
        requestId: eventId,
        receivedAt: content.at,
      });
    }
    await webhookIssues.noteNotified(pending);
  }
}

function dataOf(
  { id, reopened }: PendingNotification,
  { kind, count, firstSeen, sample }: NotificationContent,
  webhook: Webhook,
  publicUrl: string | undefined,
): Event['data'] {
  return {
    issue_id: id,
    webhook_id: webhook.id,
    webhook_name: webhook.name,
    kind,
    reason: sample.reason,
    message: sample.message,
    request_id: sample.requestId,
    count,
    first_seen: iso(firstSeen),
    times_reopened: reopened,
    url: publicUrl === undefined ? null : `${publicUrl}/webhooks/${webhook.id}`,
  };
}
