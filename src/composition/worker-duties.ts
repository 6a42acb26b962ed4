/** The duties of a worker. docs/inventory.md lists them. */
import type { DepsOf } from '../duties/duty.ts';
import { alertEvaluation } from '../jobs/alerts/alert-rounds.ts';
import { alertDelivery } from '../jobs/alerts/alert-sending.ts';
import { archiveProbe } from '../jobs/archive/archive-health.ts';
import { archiving } from '../jobs/archive/archiving.ts';
import { auditShipping } from '../jobs/archive/audit-entries.ts';
import { dayMaintenance } from '../jobs/archive/day-maintenance.ts';
import { migrating } from '../jobs/archive/migration.ts';
import { returning } from '../jobs/archive/offload-returns.ts';
import { removingRows } from '../jobs/archive/offload-rows.ts';
import { offloading } from '../jobs/archive/offloading.ts';
import { webhookRequestShipping } from '../jobs/archive/webhook-requests.ts';
import { adoption, bulkOperating } from '../jobs/bulk/bulk-duty.ts';
import { branchExpiry, environmentDeletion } from '../jobs/environments/branch-lifecycle.ts';
import { outboxMeasuring, outboxRelaying, outboxStepRemoval } from '../jobs/outbox/duties.ts';
import { admissionChecks } from '../jobs/runs/admission/admission-checks.ts';
import { finishingEnds } from '../jobs/runs/ends/unfinished-ends.ts';
import { reconciliation } from '../jobs/runs/scheduling/reconcile.ts';
import { scheduleReconciliation } from '../jobs/timers/schedules.ts';
import { pendingNotifications } from '../jobs/webhooks/pending-notifications.ts';
import { silenceCheck } from '../jobs/webhooks/silence-check.ts';
import { partitionSharing } from '../workers/partition-assignment.ts';

/** Started when the workers take jobs. */
export const WORKER_DUTIES = [
  reconciliation,
  finishingEnds,
  admissionChecks,
  scheduleReconciliation,
  branchExpiry,
  environmentDeletion,
  bulkOperating,
  adoption,
  pendingNotifications,
  silenceCheck,
  archiveProbe,
  alertEvaluation,
  alertDelivery,
] as const;

/** With an archive. */
export const ARCHIVE_DUTIES = [
  migrating,
  archiving,
  offloading,
  returning,
  removingRows,
  webhookRequestShipping,
  auditShipping,
  dayMaintenance,
] as const;

/** With an outbox. */
export const OUTBOX_DUTIES = [outboxRelaying, outboxMeasuring, outboxStepRemoval] as const;

/** This duty starts last and ends first, so that other workers take over before this worker's jobs end. */
export const PARTITION_DUTIES = [partitionSharing] as const;

export type ArchiveDutyDeps = DepsOf<typeof ARCHIVE_DUTIES>;
