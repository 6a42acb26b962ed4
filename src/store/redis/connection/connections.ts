/** The connections of a process to Redis, for docs/inventory.md. */
import type { RetryPolicy } from './connection.ts';

export interface ConnectionDeclaration {
  about: string;
  /** Behavior while Redis is down; undefined: this kind of process does not have the connection. */
  web?: RetryPolicy;
  worker?: RetryPolicy;
}

export const CONNECTIONS = {
  commands: { about: 'Commands and scripts of the store, and the queues of web', web: 'fail-soon', worker: 'wait' },
  queues: { about: 'Queues of a worker; BullMQ opens another one for each that waits for jobs', worker: 'wait' },
  subscriptions: {
    about: 'Pub/sub: cache invalidations, live updates, calls over connections',
    web: 'wait',
    worker: 'wait',
  },
  realtime: { about: 'Pub/sub of realtime messages, opened for the first subscriber', web: 'wait' },
  barrier: {
    about: 'Waits for the disk, and for replicas, under `INGEST_DURABILITY=fsync`; one for each primary of a cluster',
    web: 'fail-late',
    worker: 'fail-late',
  },
} as const satisfies Record<string, ConnectionDeclaration>;
