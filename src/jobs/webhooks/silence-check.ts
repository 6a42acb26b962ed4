/** Opens an issue for each webhook that stops getting requests, and resolves it when requests arrive again. All state of a round is in
 *  Redis, so any worker can do it. */

import { LRUCache } from 'lru-cache';
import { duty } from '../../duties/duty.ts';
import type { Logger } from '../../log.ts';
import { atMost } from '../../model/values/cache-size.ts';
import { chunksOf } from '../../model/values/chunks.ts';
import { DAY_MS, HOUR_MS, iso } from '../../model/values/time.ts';
import { issueIdOf } from '../../model/webhooks/issue.ts';
import { silenceOf } from '../../model/webhooks/silence.ts';
import type { Store } from '../../store/store.ts';
import type { Webhook } from '../../store/webhooks/webhook.ts';
import { TRAFFIC, type WebhookIssue } from '../../store/webhooks/webhook-issues.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { IssueNotifier } from './issue-notifier.ts';

/** Number of webhooks whose traffic is read together. */
const AT_ONCE = 200;

export interface SilenceCheckDeps
  extends Pick<Store, 'ids' | 'webhookIssues' | 'webhookReconciliations' | 'webhookTraffic' | 'webhookWatch'> {
  webhooks: Pick<Store['webhooks'], 'all'>;
  processes: Pick<Store['processes'], 'alive'>;
  issueNotifier: IssueNotifier;
  telemetry: Telemetry;
  log: Logger;
}

const LOOK_AGAIN_MAX = 20_000;

export const silenceCheck = duty<SilenceCheckDeps>({
  name: 'webhook-silence',
  about: 'Opens and resolves issues of silent webhooks',
  scope: 'installation',
  everyMs: 60_000,
  leaseMs: 60_000,
  rounds(deps) {
    const lookAgain = new LRUCache<string, { lastAt: number; at: number }>(atMost(LOOK_AGAIN_MAX));
    return async () => {
      const { opened, resolved } = await checkSilence(deps, Date.now(), lookAgain);
      if (opened + resolved > 0) deps.log.info({ opened, resolved }, 'webhooks are silent, or no longer');
    };
  },
});

/** When to check a webhook again that has had no request since `lastAt`, by its ID. */
export type LookAgain = Pick<LRUCache<string, { lastAt: number; at: number }>, 'get' | 'set'>;

/** @returns number of issues opened and resolved */
export async function checkSilence(
  deps: SilenceCheckDeps,
  nowMs: number,
  lookAgain: LookAgain,
): Promise<{ opened: number; resolved: number }> {
  const { webhooks, webhookTraffic, webhookWatch, processes } = deps;
  const alive = await processes.alive();
  if (!alive.some(({ kind }) => kind === 'web')) return { opened: 0, resolved: 0 };
  const since = await webhookWatch.noteRunning(nowMs);
  const watched = (await webhooks.all()).filter(({ createdAt }) => nowMs - createdAt >= DAY_MS);
  let [opened, resolved] = [0, 0];
  for (const some of chunksOf(watched, AT_ONCE)) {
    const ids = some.map(({ id }) => id);
    const last = await webhookTraffic.lastRequests(ids);
    const issues = await deps.webhookIssues.read(ids.map((id) => issueIdOf(deps.ids, id, 'silence')));
    for (const [i, webhook] of some.entries()) {
      const lastAt = last[i];
      if (lastAt === undefined) continue;
      if (await resolveIfOver(issues[i], lastAt, deps, nowMs)) resolved++;
      if (await openIfSilent(webhook, { lastAt, since, issue: issues[i] }, deps, nowMs, lookAgain)) opened++;
    }
  }
  return { opened, resolved };
}

async function resolveIfOver(
  issue: WebhookIssue | undefined,
  lastAt: number,
  { webhookIssues, issueNotifier, telemetry }: SilenceCheckDeps,
  nowMs: number,
): Promise<boolean> {
  if (!issue || (issue.state !== 'open' && issue.state !== 'acknowledged')) return false;
  if (issue.marker === markerOf(lastAt)) return false;
  const { id, count, firstSeen, reopened } = issue;
  const sample = {
    requestId: null,
    reason: 'requests_again',
    message: `requests come again since ${iso(lastAt)}`,
    at: nowMs,
  };
  const notification = { at: nowMs, count, firstSeen, sample };
  const change = { from: ['open', 'acknowledged'], to: 'resolved', by: TRAFFIC, notification } as const;
  if (!(await webhookIssues.change(id, change, nowMs))) return false;
  telemetry.publishWebhookIssue({ ...issue, state: 'resolved' });
  await sendSoon(issueNotifier.notify({ id, event: 'recovered', reopened }));
  return true;
}

async function openIfSilent(
  { id: webhookId, pausedAt, reconciliation }: Webhook,
  { lastAt, since, issue }: { lastAt: number; since: number; issue: WebhookIssue | undefined },
  { webhookIssues, webhookReconciliations, webhookTraffic, issueNotifier, telemetry }: SilenceCheckDeps,
  nowMs: number,
  lookAgain: LookAgain,
): Promise<boolean> {
  const marker = markerOf(lastAt);
  // The traffic before the service ran is unknown.
  const heardFrom = Math.max(lastAt, since);
  if (pausedAt !== undefined || nowMs - heardFrom < HOUR_MS || issue?.marker === marker) return false;
  const known = lookAgain.get(webhookId);
  if (known?.lastAt === lastAt && nowMs < known.at) return false;
  const traffic = await webhookTraffic.read(webhookId);
  if (!traffic || traffic.lastAt !== lastAt) return false;
  const silence = silenceOf(traffic);
  const at = silence ? silence.from + (heardFrom - lastAt) : Number.POSITIVE_INFINITY;
  lookAgain.set(webhookId, { lastAt, at });
  if (!silence || nowMs < at) return false;
  const usual = `no request since ${iso(lastAt)}; about ${silence.requestsPerHour.toPrecision(2)} per hour came before`;
  const sent = reconciliation && (await sentSince(webhookId, lastAt, webhookReconciliations));
  const { reason, more } = sent ?? { reason: 'no_requests', more: '' };
  const sample = { requestId: null, reason, message: usual + more, at: nowMs };
  const seen = { firstAt: nowMs, lastAt: nowMs, count: 1, reasons: { [reason]: 1 }, sample };
  const recorded = await webhookIssues.record({ webhookId, kind: 'silence', ...seen, marker }, nowMs);
  const { id, happened, state, reopened } = recorded;
  telemetry.publishWebhookIssue({ id, webhookId, kind: 'silence', state });
  if (happened === '') return false;
  telemetry.recordWebhookIssue('silence');
  await sendSoon(issueNotifier.notify({ id, event: 'failing', reopened }));
  return true;
}

/** Whether the provider really sent none, by its list. @returns undefined if the list was not read since */
async function sentSince(
  webhookId: string,
  lastAt: number,
  webhookReconciliations: SilenceCheckDeps['webhookReconciliations'],
): Promise<{ reason: string; more: string } | undefined> {
  const { checked } = await webhookReconciliations.state(webhookId);
  if (!checked || checked.to <= lastAt) return undefined;
  const { sent, recovered, missing } = await webhookReconciliations.counts(webhookId, {
    from: lastAt + 1,
    to: checked.to,
  });
  if (sent === 0)
    return { reason: 'none_sent', more: `. The provider's list has none either, until ${iso(checked.to)}` };
  const more = `. The provider's list has ${sent}, until ${iso(checked.to)}: ${recovered} recovered, ${missing} missing`;
  return { reason: 'requests_lost', more };
}

/** If sending fails now, it is sent later (pending-notifications.ts). */
async function sendSoon(sending: Promise<void>): Promise<void> {
  await sending.catch(() => undefined);
}

/** A silence is reported once, even if a user resolves its issue while it lasts. */
function markerOf(lastAt: number): string {
  return String(lastAt);
}
