/** Keys of batches. A batch is in the partition of its function and key value. */
import type { KeyDeclaration } from './key-declaration.ts';

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
    ttl: 'none; field deleted when the batch closes',
    size: '1 field per open batch, 27 bytes per event',
    description: 'Key value → open batch: payload size, earliest start, event IDs.',
  },
  batchTimes: {
    pattern: 'batch-times:<env>:<function ID>',
    type: 'zset',
    owner: 'flow-control/batches.ts',
    ttl: 'as the batch',
    size: '1 entry per open batch',
    description: 'Key values with an open batch, by first event (ms).',
  },
  closedBatches: {
    pattern: 'closed-batches:<env>:<function ID>',
    type: 'hash',
    owner: 'flow-control/batches.ts',
    ttl: 'none; field deleted 2 s after the run was created',
    size: '1 field per closed batch, 27 bytes per event',
    description: 'First event ID → full or due batch until its run is stored.',
  },
  closedBatchTimes: {
    pattern: 'closed-batch-times:<env>:<function ID>',
    type: 'zset',
    owner: 'flow-control/batches.ts',
    ttl: 'as the closed batch',
    size: '1 entry per closed batch',
    description: 'Closed batches by when a worker may take or drop them (ms).',
  },
  closedBatchEvents: {
    pattern: 'closed-batch-events:<env>:<function ID>',
    type: 'hash',
    owner: 'flow-control/batches.ts',
    ttl: 'as the closed batch',
    size: '1 field per event of a closed batch',
    description: 'Event ID → its closed batch.',
  },
  batchLook: {
    pattern: 'batch-look:<env>:<function ID>',
    type: 'string',
    owner: 'flow-control/batches.ts',
    ttl: '9 d, renewed',
    size: '20 bytes',
    description: 'Number of timer checks and time of the next (ms).',
  },
} as const satisfies Record<keyof ReturnType<typeof batchKeys>, KeyDeclaration>;
