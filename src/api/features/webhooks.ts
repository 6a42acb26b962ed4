/** Routes of webhooks, their requests, and held events. */
import type { Feature } from '../parts.ts';
import { heldEventRoutes } from '../routes/held-events.ts';
import { providerRoutes } from '../routes/providers.ts';
import { transformRoutes } from '../routes/transforms.ts';
import { webhookActionRoutes } from '../routes/webhook-actions.ts';
import { webhookIssueRoutes } from '../routes/webhook-issues.ts';
import { webhookLogRoutes } from '../routes/webhook-log.ts';
import { webhookReconciliationRoutes } from '../routes/webhook-reconciliation.ts';
import { webhookReplayRoutes } from '../routes/webhook-replays.ts';
import { webhookSecretRoutes } from '../routes/webhook-secrets.ts';
import { webhookStatsRoutes } from '../routes/webhook-stats.ts';
import { webhookVersionRoutes } from '../routes/webhook-versions.ts';
import { webhookRoutes } from '../routes/webhooks.ts';

export const WEBHOOKS: Feature = [
  providerRoutes,
  webhookStatsRoutes,
  webhookRoutes,
  webhookSecretRoutes,
  webhookVersionRoutes,
  webhookActionRoutes,
  webhookLogRoutes,
  webhookReplayRoutes,
  webhookReconciliationRoutes,
  webhookIssueRoutes,
  heldEventRoutes,
  transformRoutes,
];
