/** Replays one request: processes it as if it were received now, with an event ID that a repetition uses again. */
import { ServiceError } from '../../errors.ts';
import type { History } from '../../history/history.ts';
import type { Logger } from '../../log.ts';
import type { LoggedRequest } from '../../model/webhooks/request-log.ts';
import { toServiceError } from '../../store/redis/connection/connection.ts';
import type { WebhookInUse } from '../../store/webhooks/webhook-in-use.ts';
import type {
  WebhookReplayOutcome,
  WebhookReplayPlan,
  WebhookReplayResult,
} from '../../store/webhooks/webhook-replay.ts';
import type { Draft } from '../receive/draft.ts';
import { PASSING_ERRORS, type ProcessWebhookDeps, processWebhook } from '../receive/process-webhook.ts';
import { largeOf, type WebhookRequest } from '../receive/webhook-request.ts';

const MESSAGE_MAX_LENGTH = 500;

export interface ReplayRequestDeps extends ProcessWebhookDeps {
  webhookLog: Pick<History['webhookLog'], 'read'>;
  log: Logger;
}

/** @throws ServiceError one of the temporary errors */
export async function replayRequest(
  requestId: string,
  { id: replayId, parent }: WebhookReplayPlan & { id: string },
  { webhook, draft }: { webhook: WebhookInUse; draft: Draft | undefined },
  deps: ReplayRequestDeps,
): Promise<WebhookReplayResult & { status: WebhookReplayOutcome }> {
  const logged = await deps.webhookLog.read(webhook.id, requestId);
  const skipped = (reason: string) => ({ requestId, status: 'skipped' as const, reason });
  if (!logged) return skipped('request_gone');
  const { summary } = logged;
  // A re-run is skipped: the request that it repeats is replayed itself.
  if (summary.rerunOf !== undefined) return skipped('rerun');
  const eventId = deps.ids.derived(parent, 'webhook-replay', replayId, requestId);
  try {
    const result = await deps.largeBodies.withBodyOf(webhook.id, logged, async (body) => {
      return body && processWebhook(webhook, requestOf(logged, body), deps, { draft, eventId, logged: summary });
    });
    if (!result) return skipped('body_missing');
    const { decided, ids } = result;
    switch (decided.outcome) {
      case 'accepted':
        if (ids[0] !== eventId) return { ...skipped('duplicate'), eventId: ids[0] };
        return { requestId, status: 'done', eventId };
      case 'held':
        return { requestId, status: 'done', eventId, reason: decided.reason };
      case 'rejected':
        throw decided.error;
      default:
        return skipped(decided.outcome);
    }
  } catch (thrown) {
    const error = toServiceError(thrown);
    const failed = { requestId, status: 'failed' as const };
    if (!(error instanceof ServiceError)) {
      deps.log.error({ err: error, replay: replayId, request_id: requestId }, 'a request could not be replayed');
      return { ...failed, reason: 'internal' };
    }
    if (PASSING_ERRORS.has(error.code)) throw error;
    return { ...failed, reason: error.code, message: error.message.slice(0, MESSAGE_MAX_LENGTH) };
  }
}

function requestOf({ summary, headers, search }: LoggedRequest, body: Buffer): WebhookRequest {
  const { id: requestId, method } = summary;
  return { requestId, receivedAt: Date.now(), method, headers, search, body, large: largeOf(summary) };
}
