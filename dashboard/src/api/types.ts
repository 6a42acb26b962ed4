/** Types of API responses, inferred from the service's own schemas. */
import type { z } from 'zod';
import type { AccountView } from '../../../src/api/auth/account-view.ts';
import type { listedRunSchema } from '../../../src/api/rest/run-list.ts';
import type { testedSchema } from '../../../src/api/routes/alerts.ts';
import type { apiKeySchema, newApiKeySchema } from '../../../src/api/routes/api-keys.ts';
import type { appCheckSchema } from '../../../src/api/routes/app-check.ts';
import type { connectionSchema } from '../../../src/api/routes/app-connections.ts';
import type { versionSchema as appVersionSchema } from '../../../src/api/routes/app-versions.ts';
import type { appSchema, detailedAppSchema } from '../../../src/api/routes/apps.ts';
import type { entrySchema, rejectionSchema } from '../../../src/api/routes/audit.ts';
import type { environmentSchema } from '../../../src/api/routes/environments.ts';
import type { bucketSchema, eventNameSchema } from '../../../src/api/routes/event-counts.ts';
import type { eventDecisionSchema } from '../../../src/api/routes/event-decisions.ts';
import type { createdEventKeySchema, eventKeySchema } from '../../../src/api/routes/event-keys.ts';
import type { provenanceSchema } from '../../../src/api/routes/event-provenance.ts';
import type { functionMetricsSchema } from '../../../src/api/routes/function-metrics.ts';
import type { heldSchema, listedHeldSchema } from '../../../src/api/routes/held-events.ts';
import type { limitsSchema } from '../../../src/api/routes/installation-limits.ts';
import type { invokedSchema } from '../../../src/api/routes/invoke.ts';
import type { functionStatsSchema, metricsSchema } from '../../../src/api/routes/metrics.ts';
import type { overviewSchema } from '../../../src/api/routes/overview.ts';
import type { providerDetailsSchema, providerSchema } from '../../../src/api/routes/providers.ts';
import type { runBucketSchema, runCountSchema } from '../../../src/api/routes/run-counts.ts';
import type { savedViewSchema } from '../../../src/api/routes/saved-views.ts';
import type { fieldSchema, hitsSchema } from '../../../src/api/routes/search.ts';
import type { matchSchema, resentSchema } from '../../../src/api/routes/send-events.ts';
import type { settingSchema } from '../../../src/api/routes/settings.ts';
import type { signingKeySchema } from '../../../src/api/routes/signing-keys.ts';
import type { statusSchema } from '../../../src/api/routes/status.ts';
import type { storageSchema } from '../../../src/api/routes/storage.ts';
import type { transformResultSchema } from '../../../src/api/routes/transforms.ts';
import type { userSchema } from '../../../src/api/routes/users.ts';
import type { webhookStatsSchema } from '../../../src/api/routes/webhook-stats.ts';
import type { alertRuleSchema, alertSchema } from '../../../src/api/views/alert.ts';
import type { alertChannelSchema, createdChannelSchema } from '../../../src/api/views/alert-channel.ts';
import type { bulkActionSchema, bulkDryRunSchema, bulkResultSchema } from '../../../src/api/views/bulk-action.ts';
import type { deploySchema, syncOriginSchema } from '../../../src/api/views/deploy.ts';
import type { destinationSchema, destinationWithSecretSchema } from '../../../src/api/views/destination.ts';
import type { detailedRunSchema } from '../../../src/api/views/detailed-run.ts';
import type { detailedErrorGroupSchema, errorGroupSchema } from '../../../src/api/views/error-group.ts';
import type { listedEventSchema, runBriefSchema, storedEventSchema } from '../../../src/api/views/event.ts';
import type { detailedFunctionSchema, functionSchema, listedFunctionSchema } from '../../../src/api/views/function.ts';
import type { heldRegistrationSchema } from '../../../src/api/views/held-registration.ts';
import type { laneSchema } from '../../../src/api/views/lane.ts';
import type { functionLimitsSchema, waitingSchema } from '../../../src/api/views/limits.ts';
import type { LiveKind, liveSchemas } from '../../../src/api/views/live.ts';
import type { replayDryRunSchema, replayResultSchema, replaySchema } from '../../../src/api/views/replay.ts';
import type { listedRequestSchema, loggedRequestDetailsSchema, loggedSchema } from '../../../src/api/views/request.ts';
import type { runSchema } from '../../../src/api/views/run.ts';
import type { historySchema } from '../../../src/api/views/run-history.ts';
import type { logLineSchema } from '../../../src/api/views/run-log.ts';
import type { metadataSchema } from '../../../src/api/views/run-metadata.ts';
import type { runStateSchema } from '../../../src/api/views/run-state.ts';
import type { stepSchema } from '../../../src/api/views/step.ts';
import type { webhookSchema } from '../../../src/api/views/webhook.ts';
import type { completenessSchema } from '../../../src/api/views/webhook-completeness.ts';
import type { webhookIssueSchema } from '../../../src/api/views/webhook-issue.ts';
import type {
  webhookReplayDryRunSchema,
  webhookReplayResultSchema,
  webhookReplaySchema,
} from '../../../src/api/views/webhook-replay.ts';
import type { versionDetailsSchema, versionDiffSchema, versionSchema } from '../../../src/api/views/webhook-version.ts';
import type { listedWhatIfSchema, whatIfSchema } from '../../../src/api/views/what-if.ts';
import type { customVerificationSchema } from '../../../src/providers/preset.ts';
import type { FailureReason } from '../../../src/providers/verification/verification.ts';

export type Alert = z.output<typeof alertSchema>;
export type AlertRule = z.output<typeof alertRuleSchema>;
export type AlertChannel = z.output<typeof alertChannelSchema>;
export type CreatedAlertChannel = z.output<typeof createdChannelSchema>;
export type TestedAlertChannel = z.output<typeof testedSchema>;
export type ApiKey = z.output<typeof apiKeySchema>;
export type NewApiKey = z.output<typeof newApiKeySchema>;
export type App = z.output<typeof appSchema>;
export type AppWithFunctions = z.output<typeof detailedAppSchema>;
/** `POST /v1/apps/:name/check` */
export type AppVersion = z.output<typeof appVersionSchema>;
export type WhatIf = z.output<typeof whatIfSchema>;
export type ListedWhatIf = z.output<typeof listedWhatIfSchema>;
export type Connection = z.output<typeof connectionSchema>;
/** `GET /v1/destinations` */
export type Destination = z.output<typeof destinationSchema>;
export type NewDestination = z.output<typeof destinationWithSecretSchema>;
export type AppCheck = z.output<typeof appCheckSchema>;
export type AuditEntry = z.output<typeof entrySchema>;
/** `GET /v1/audit/refusals` */
export type RejectedAttempt = z.output<typeof rejectionSchema>;
export type Environment = z.output<typeof environmentSchema>;
/** `GET /v1/errors` */
export type ErrorGroup = z.output<typeof errorGroupSchema>;
/** `GET /v1/errors/:fingerprint` */
export type DetailedErrorGroup = z.output<typeof detailedErrorGroupSchema>;
export type EventKey = z.output<typeof eventKeySchema>;
export type NewEventKey = z.output<typeof createdEventKeySchema>;
export type StoredEvent = z.output<typeof storedEventSchema>;
/** `GET /v1/events`; `runs` with include=runs */
export type ListedEvent = z.output<typeof listedEventSchema>;
export type RunSummary = z.output<typeof runBriefSchema>;
/** `GET /v1/events/histogram` */
export type HistogramBucket = z.output<typeof bucketSchema>;
/** `GET /v1/events/names` */
export type EventName = z.output<typeof eventNameSchema>;
/** `GET /v1/events/:id/arrival` */
export type EventProvenance = z.output<typeof provenanceSchema>;
/** `POST /v1/events/match` */
export type EventMatch = z.output<typeof matchSchema>;
export type ResentEvents = z.output<typeof resentSchema>;
/** `GET /v1/events/:id/decisions` */
export type EventDecision = z.output<typeof eventDecisionSchema>;
/** `GET /v1/held-registrations` */
export type HeldRegistration = z.output<typeof heldRegistrationSchema>;
export type HeldEvent = z.output<typeof heldSchema>;
/** `GET /v1/holding` */
export type ListedHeldEvent = z.output<typeof listedHeldSchema>;
export type Limits = z.output<typeof limitsSchema>;
export type Run = z.output<typeof runSchema>;
/** `GET /v1/runs`, and the runs of an event */
export type ListedRun = z.output<typeof listedRunSchema>;
export type RunWithHistory = z.output<typeof detailedRunSchema>;
/** `GET /v1/runs/count` */
export type RunBucket = z.output<typeof runBucketSchema>;
export type RunCount = z.output<typeof runCountSchema>;
export type BulkAction = z.output<typeof bulkActionSchema>;
/** `POST /v1/runs/bulk` with `dry_run` */
export type BulkDryRun = z.output<typeof bulkDryRunSchema>;
export type BulkResult = z.output<typeof bulkResultSchema>;
/** `GET /v1/runs/:id/steps/:step_id` */
export type Step = z.output<typeof stepSchema>;
/** `POST /v1/functions/:id/invoke` */
export type InvokeResult = z.output<typeof invokedSchema>;
export type RunMetadata = z.output<typeof metadataSchema>;
/** `GET /v1/runs/:id/logs` */
export type LogLine = z.output<typeof logLineSchema>;
export type HistoryEntry = z.output<typeof historySchema>;
export type SigningKeys = z.output<typeof signingKeySchema>;
export type TransformResult = z.output<typeof transformResultSchema>;
export type User = z.output<typeof userSchema>;
export type FunctionSummary = z.output<typeof functionSchema>;
/** `GET /v1/functions` */
export type ListedFunction = z.output<typeof listedFunctionSchema>;
export type FunctionDetails = z.output<typeof detailedFunctionSchema>;
/** `GET /v1/functions/:id/lanes` */
export type Lane = z.output<typeof laneSchema>;
/** `GET /v1/functions/:id/limits` */
export type FunctionLimits = z.output<typeof functionLimitsSchema>;
/** The limits that a run waits for */
export type Waiting = z.output<typeof waitingSchema>;
export type Replay = z.output<typeof replaySchema>;
/** `POST /v1/replays` with `dry_run` */
export type ReplayDryRun = z.output<typeof replayDryRunSchema>;
/** `GET /v1/replays/:id/results` */
export type ReplayResult = z.output<typeof replayResultSchema>;
export type WebhookReplay = z.output<typeof webhookReplaySchema>;
export type WebhookReplayDryRun = z.output<typeof webhookReplayDryRunSchema>;
/** `GET /v1/webhooks/:id/replays/:replay/results` */
export type WebhookReplayResult = z.output<typeof webhookReplayResultSchema>;
/** `GET /v1/search/fields` */
export type SearchField = z.output<typeof fieldSchema>;
/** State of a run, in more detail than its status. */
export type RunState = z.output<typeof runStateSchema>;
/** `GET /v1/search` */
export type SearchHits = z.output<typeof hitsSchema>;
/** `GET /v1/views` */
export type SavedView = z.output<typeof savedViewSchema>;
export type LoggedRequest = z.output<typeof loggedSchema>;
/** `GET /v1/webhooks/:id/requests` */
export type ListedRequest = z.output<typeof listedRequestSchema>;
export type LoggedRequestDetails = z.output<typeof loggedRequestDetailsSchema>;
export type Webhook = z.output<typeof webhookSchema>;
/** `GET /v1/webhook-issues` */
export type WebhookIssue = z.output<typeof webhookIssueSchema>;
/** `GET /v1/webhooks/:id/versions` */
export type WebhookVersion = z.output<typeof versionSchema>;
export type WebhookVersionDetails = z.output<typeof versionDetailsSchema>;
/** `GET /v1/webhooks/:id/versions/:version/diff` */
export type WebhookVersionDiff = z.output<typeof versionDiffSchema>;
/** How the user says that a generic provider signs. */
export type CustomVerification = z.input<typeof customVerificationSchema>;
/** `GET /v1/providers` */
export type Provider = z.output<typeof providerSchema>;
/** `GET /v1/providers/:id` */
export type ProviderDetails = z.output<typeof providerDetailsSchema>;
export type { FailureReason };
/** `GET /v1/webhooks/:id/completeness` */
export type WebhookCompleteness = z.output<typeof completenessSchema>;
/** `GET /v1/webhooks/stats` */
export type WebhookStats = z.output<typeof webhookStatsSchema>;
/** `GET /v1/settings` */
export type Setting = z.output<typeof settingSchema>;

/** `GET /auth/account` */
export type { AccountView };

/** `GET /auth/me` */
type AccessLevel = 'none' | 'read' | 'write' | 'admin';

export interface CurrentUser {
  kind: AuditEntry['who']['kind'];
  id: string;
  name: string;
  /** In the selected environment. */
  access: AccessLevel;
  installation_access: AccessLevel;
  environment: string | null;
}

export type Metrics = z.output<typeof metricsSchema>;
export type MetricsPoint = Metrics['points'][number];
/** `GET /v1/functions/:id/metrics` */
export type FunctionMetrics = z.output<typeof functionMetricsSchema>;
/** `GET /v1/deploys` */
export type Deploy = z.output<typeof deploySchema>;
export type SyncOrigin = z.output<typeof syncOriginSchema>;
export type FunctionStats = z.output<typeof functionStatsSchema>;
export type Overview = z.output<typeof overviewSchema>;
/** `GET /v1/status` */
export type Status = z.output<typeof statusSchema>;
/** `GET /v1/storage` */
export type Storage = z.output<typeof storageSchema>;

/** Messages of `GET /v1/stream` by their kind. */
export type LiveMessages = { [Kind in LiveKind]: z.output<(typeof liveSchemas)[Kind]> };
export type { LiveKind };
