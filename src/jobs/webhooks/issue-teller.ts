/** Sends events about issues of webhooks (docs/webhooks.md#issues). The process that opens or resolves an issue sends its event; a worker
 *  sends the ones still pending. The event has the same ID each time, so it is accepted once. */

import { BRANCHES, PRODUCTION } from '../../model/environment.ts';
import { type Event, WEBHOOK_FAILING, WEBHOOK_RECOVERED } from '../../model/events/event.ts';
import type { PartitionedIds } from '../../model/partitions/partitioned-ids.ts';
import type { Keyspace } from '../../store/redis/keyspace.ts';
import type { Webhook } from '../../store/webhooks/webhook.ts';
import type { Telling, Untold, WebhookIssues } from '../../store/webhooks/webhook-issues.ts';
import type { Webhooks } from '../../store/webhooks/webhooks.ts';
import type { Acceptor } from '../acceptance/acceptor.ts';

const NAMES = { failing: WEBHOOK_FAILING, recovered: WEBHOOK_RECOVERED } as const;

export interface IssueTellerDeps {
  keys: Keyspace;
  ids: PartitionedIds;
  webhooks: Pick<Webhooks, 'read'>;
  webhookIssues: Pick<WebhookIssues, 'telling' | 'noteTold'>;
  acceptor: Pick<Acceptor, 'acceptWithId'>;
  /** undefined: events have no link to the dashboard. */
  publicUrl: string | undefined;
}

export class IssueTeller {
  readonly #deps: IssueTellerDeps;

  constructor(deps: IssueTellerDeps) {
    this.#deps = deps;
  }

  /** @throws ServiceError unavailable when Redis rejects the event: it stays pending */
  async tell(untold: Untold): Promise<void> {
    const { keys, ids, webhooks, webhookIssues, acceptor, publicUrl } = this.#deps;
    const { id, event, reopened } = untold;
    const telling = await webhookIssues.telling(untold);
    const webhook = telling && (await webhooks.read(telling.webhookId));
    if (telling && webhook) {
      const eventId = ids.ownEvent(telling.at, keys.of(id).number, 'webhook-issue', id, event, String(reopened));
      await acceptor.acceptWithId({ name: NAMES[event], data: dataOf(untold, telling, webhook, publicUrl) }, eventId, {
        env: webhook.env === BRANCHES ? PRODUCTION : webhook.env,
        source: 'service',
        requestId: eventId,
        receivedAt: telling.at,
      });
    }
    await webhookIssues.noteTold(untold);
  }
}

function dataOf(
  { id, reopened }: Untold,
  { kind, count, firstSeen, sample }: Telling,
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
    first_seen: new Date(firstSeen).toISOString(),
    times_reopened: reopened,
    url: publicUrl === undefined ? null : `${publicUrl}/webhooks/${webhook.id}`,
  };
}
