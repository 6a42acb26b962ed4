/** Sends pending events about issues of webhooks, whose process died or failed before sending them. */
import { duty } from '../../duties/duty.ts';
import type { Logger } from '../../log.ts';
import type { WebhookIssues } from '../../store/webhooks/webhook-issues.ts';
import type { IssueTeller } from './issue-teller.ts';

/** Time in which the process that opened the issue sends it. */
const GRACE_MS = 5_000;
const AT_ONCE = 100;

export interface UntoldIssuesDeps {
  webhookIssues: Pick<WebhookIssues, 'untold'>;
  issueTeller: IssueTeller;
  log: Logger;
}

export const untoldIssues = duty<UntoldIssuesDeps>({
  name: 'webhook-issues',
  about: 'Sends the events of webhook issues that the web process could not send',
  scope: 'partition',
  everyMs: 5_000,
  rounds:
    (deps) =>
    async ({ partition }) => {
      await tellUntold(partition, deps, Date.now());
    },
});

/** @returns number of events sent */
export async function tellUntold(
  partition: number,
  { webhookIssues, issueTeller, log }: UntoldIssuesDeps,
  nowMs: number,
): Promise<number> {
  let sent = 0;
  for (const untold of await webhookIssues.untold(partition, nowMs - GRACE_MS, AT_ONCE)) {
    try {
      await issueTeller.tell(untold);
      sent++;
    } catch (error) {
      log.warn(
        { issue: untold.id, err: (error as Error).message },
        'an issue of a webhook could not be told; tried again',
      );
    }
  }
  return sent;
}
