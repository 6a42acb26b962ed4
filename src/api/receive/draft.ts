/** Temporary replacement of a webhook's transform and filter, to try it on logged requests. */
import { createHash } from 'node:crypto';
import { compiledFilter, type WebhookInUse } from '../../store/webhooks/webhook-in-use.ts';
import type { DraftCode } from '../../store/webhooks/webhook-replay.ts';
import type { Transform } from '../../transforms/transforms.ts';

type Filter = Pick<WebhookInUse, 'id' | 'filter' | 'filterExpression'>;

export interface Draft {
  /** undefined: the webhook's transform. */
  transform: Transform | undefined;
  /** undefined: the webhook's filter. */
  filter: Filter | undefined;
}

/** A draft runs separately from the webhook's transform and filter, so that its failures do not count against them. */
export function draftOf(webhookId: string, { transform, filter }: DraftCode): Draft {
  return {
    transform: transform === undefined ? undefined : draftTransform(transform),
    filter:
      filter === undefined
        ? undefined
        : {
            id: `draft:${webhookId}`,
            filter: filter ?? undefined,
            filterExpression: filter === null ? undefined : compiledFilter(filter),
          },
  };
}

function draftTransform(code: string): Transform {
  const digest = createHash('sha256').update(code).digest('base64url');
  return { id: `draft:${digest}`, version: digest, code };
}
