/** Sends pending events about issues of webhooks, whose process died or failed before sending them. */
import { duty } from '../../duties/duty.ts';
import type { Logger } from '../../log.ts';
import type { Store } from '../../store/store.ts';
import type { IssueNotifier } from './issue-notifier.ts';

/** Time in which the process that opened the issue sends it. */
const GRACE_MS = 5_000;
const AT_ONCE = 100;

export interface PendingNotificationDeps extends Pick<Store, 'webhookIssues'> {
  issueNotifier: IssueNotifier;
  log: Logger;
}

export const pendingNotifications = duty<PendingNotificationDeps>({
  name: 'webhook-issues',
  about: 'Sends events of webhook issues that web could not send',
  scope: 'partition',
  everyMs: 5_000,
  rounds:
    (deps) =>
    async ({ partition }) => {
      await sendPending(partition, deps, Date.now());
    },
});

/** @returns number of events sent */
export async function sendPending(
  partition: number,
  { webhookIssues, issueNotifier, log }: PendingNotificationDeps,
  nowMs: number,
): Promise<number> {
  let sent = 0;
  for (const pending of await webhookIssues.pendingNotifications(partition, nowMs - GRACE_MS, AT_ONCE)) {
    try {
      await issueNotifier.notify(pending);
      sent++;
    } catch (error) {
      log.warn(
        { issue: pending.id, err: (error as Error).message },
        'the event of a webhook issue could not be sent; it is tried again',
      );
    }
  }
  return sent;
}
