/** Builds the log entry of a webhook request. */

import type { LoggedRequest, LogSummary } from '../../model/webhooks/request-log.ts';
import type { WebhookInUse } from '../../store/webhooks/webhook-in-use.ts';
import { withoutSecrets } from './stored-credentials.ts';
import { logFieldsOf, type WebhookResult } from './webhook-outcome.ts';
import { bodyFieldsOf, type WebhookRequest } from './webhook-request.ts';

/** @param request without a body if none was read
 *  @param startedAt start of its processing, by `performance.now()`
 *  @param more fields that are not in the request itself */
export function loggedRequestOf(
  webhook: WebhookInUse,
  {
    requestId,
    receivedAt,
    method,
    headers,
    search,
    body,
    large,
  }: Omit<WebhookRequest, 'body'> & { body?: Buffer | undefined },
  result: WebhookResult,
  startedAt: number,
  more: Pick<LogSummary, 'ip'> & Partial<Pick<LogSummary, 'rerunOf' | 'recovered'>>,
): LoggedRequest {
  const summary = {
    id: requestId,
    receivedAt,
    method,
    ...more,
    durationMs: Math.round((performance.now() - startedAt) * 1_000) / 1_000,
    ...bodyFieldsOf(body, large),
    version: typeof webhook.version === 'number' ? webhook.version : undefined,
    ...logFieldsOf(result),
  };
  return {
    summary,
    ...withoutSecrets(webhook, result.verification, { headers, search }),
    body: large ? undefined : body,
  };
}
