/** Keys of batches. A batch is in the partition of its function and key value. */
import { hash, string, zset } from './key-declaration.ts';

export const BATCH_KEYS = {
  batches: hash('batches:<env>:<function ID>', 'Key value → open batch: payload size, earliest start, event IDs.', {
    owner: 'flow-control/batches.ts',
    ttl: 'none; field deleted when the batch closes',
    size: '1 field per open batch, 27 bytes per event',
  }),
  batchTimes: zset('batch-times:<env>:<function ID>', 'Key values with an open batch, by first event (ms).', {
    owner: 'flow-control/batches.ts',
    ttl: 'as the batch',
    size: '1 entry per open batch',
  }),
  closedBatches: hash(
    'closed-batches:<env>:<function ID>',
    'First event ID → full or due batch until its run is stored.',
    {
      owner: 'flow-control/batches.ts',
      ttl: 'none; field deleted 2 s after the run was created',
      size: '1 field per closed batch, 27 bytes per event',
    },
  ),
  closedBatchTimes: zset(
    'closed-batch-times:<env>:<function ID>',
    'Closed batches by when a worker may take or drop them (ms).',
    { owner: 'flow-control/batches.ts', ttl: 'as the closed batch', size: '1 entry per closed batch' },
  ),
  closedBatchEvents: hash('closed-batch-events:<env>:<function ID>', 'Event ID → its closed batch.', {
    owner: 'flow-control/batches.ts',
    ttl: 'as the closed batch',
    size: '1 field per event of a closed batch',
  }),
  batchTimerCheck: string('batch-look:<env>:<function ID>', 'Number of timer checks and time of the next (ms).', {
    owner: 'flow-control/batches.ts',
    ttl: '9 d, renewed',
    size: '20 bytes',
  }),
};
