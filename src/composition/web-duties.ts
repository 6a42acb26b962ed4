/** The duties of a web process. docs/inventory.md lists them. */
import { appDiscovery } from '../api/apps/discovery.ts';
import { rampWatch } from '../api/apps/ramp-watch.ts';
import { connectionRenewal } from '../api/connect/gateway.ts';
import { webhookWatching } from '../api/receive/webhook-watcher.ts';
import { webhookReconciling } from '../api/reconciliation/reconciliation-rounds.ts';
import { alertEvaluation } from '../jobs/alerts/alert-rounds.ts';
import { alertDelivery } from '../jobs/alerts/alert-sending.ts';
import { archiveProbe } from '../jobs/archive/archive-health.ts';
import { bulkOperating } from '../jobs/bulk/bulk-duty.ts';
import { backpressureRefresh } from '../jobs/queues/backpressure.ts';

/** Started before the server listens. */
export const CONNECTION_DUTIES = [connectionRenewal] as const;

export const WEB_DUTIES = [
  backpressureRefresh,
  webhookWatching,
  webhookReconciling,
  bulkOperating,
  rampWatch,
  archiveProbe,
  alertEvaluation,
  alertDelivery,
] as const;

/** For the first process of a group. */
export const DISCOVERY_DUTIES = [appDiscovery] as const;
