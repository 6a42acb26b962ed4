/** The parts of processes, for docs/inventory.md. */
import { TELEMETRY_DUTIES } from '../jobs/telemetry/duties.ts';
import { CONNECTION_DUTIES, DISCOVERY_DUTIES, WEB_DUTIES } from './web-duties.ts';
import { ARCHIVE_DUTIES, OUTBOX_DUTIES, PARTITION_DUTIES, WORKER_DUTIES } from './worker-duties.ts';

export { JOB_RETENTION, QUEUE_JOBS } from '../jobs/queues/queues.ts';
export { CONNECTIONS, type ConnectionDeclaration } from '../store/redis/connection/connections.ts';

export const DUTIES = {
  both: [...TELEMETRY_DUTIES],
  web: [...CONNECTION_DUTIES, ...WEB_DUTIES, ...DISCOVERY_DUTIES],
  worker: [...PARTITION_DUTIES, ...WORKER_DUTIES, ...ARCHIVE_DUTIES, ...OUTBOX_DUTIES],
} as const;
