/** Keys of batches. A batch is in the partition of its function and the value of its key. */
import type { KeyDeclaration } from '../redis/key-declaration.ts';

export const batchKeys = (prefix: string) => ({
  batches: (env: string, functionId: string) => `${prefix}:batches:${env}:${functionId}`,
  batchTimes: (env: string, functionId: string) => `${prefix}:batch-times:${env}:${functionId}`,
  closedBatches: (env: string, functionId: string) => `${prefix}:closed-batches:${env}:${functionId}`,
  closedBatchTimes: (env: string, functionId: string) => `${prefix}:closed-batch-times:${env}:${functionId}`,
  closedBatchEvents: (env: string, functionId: string) => `${prefix}:closed-batch-events:${env}:${functionId}`,
  batchLook: (env: string, functionId: string) => `${prefix}:batch-look:${env}:${functionId}`,
});

export const BATCH_KEY_DECLARATIONS = {
  batches: {
    pattern: 'batches:<env>:<function ID>',
    type: 'hash',
    owner: 'flow-control/batches.ts',
    ttl: 'none; a field is deleted when its batch closes',
    size: '1 field per open batch, 27 bytes per event',
    description:
      'Value of the key → the open batch: size of its payloads, time its run starts at the soonest, IDs of its events.',
  },
  batchTimes: {
    pattern: 'batch-times:<env>:<function ID>',
    type: 'zset',
    owner: 'flow-control/batches.ts',
    ttl: 'none; an entry is deleted when its batch closes',
    size: '1 entry per open batch',
    description: 'Values of keys that have an open batch, by the time of its first event (ms).',
  },
  closedBatches: {
    pattern: 'closed-batches:<env>:<function ID>',
    type: 'hash',
    owner: 'flow-control/batches.ts',
    ttl: 'none; a field is deleted 2 s after the run was created',
    size: '1 field per batch that was closed and whose run is created now, 27 bytes per event',
    description: 'ID of its first event → a full or due batch, until its run and the lists of its events have it.',
  },
  closedBatchTimes: {
    pattern: 'closed-batch-times:<env>:<function ID>',
    type: 'zset',
    owner: 'flow-control/batches.ts',
    ttl: 'none; as the closed batch',
    size: '1 entry per closed batch',
    description: 'The same batches by the time at which a worker may take them, or may forget them (ms).',
  },
  closedBatchEvents: {
    pattern: 'closed-batch-events:<env>:<function ID>',
    type: 'hash',
    owner: 'flow-control/batches.ts',
    ttl: 'none; as the closed batch',
    size: '1 field per event of a closed batch',
    description: 'Event ID → the closed batch that has the event.',
  },
  batchLook: {
    pattern: 'batch-look:<env>:<function ID>',
    type: 'string',
    owner: 'flow-control/batches.ts',
    ttl: '9 d, renewed',
    size: '20 bytes',
    description: 'How often a timer has looked at the batches of the function, and when the next one will (ms).',
  },
} as const satisfies Record<keyof ReturnType<typeof batchKeys>, KeyDeclaration>;
