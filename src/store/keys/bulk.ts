/** Keys of bulk operations. */
import { hash, list, set, zset } from './key-declaration.ts';

const TTL = '30 days at most, by kind; renewed';

/** Shared by all partitions, because a bulk operation covers the data of each. */
export const BULK_KEYS = {
  bulkOperations: zset('bulk-operations:<env>:<kind>', 'Bulk operations of a kind, by creation (ms).', {
    owner: 'bulk/bulk-operations.ts',
    ttl: TTL,
    size: '200 or 1,000 entries, by kind',
  }),
  openBulkOperations: set('open-bulk-operations:<env>:<kind>', 'Operations that run or are paused.', {
    owner: 'bulk/bulk-operations.ts',
    ttl: TTL,
    size: '10 to 100 entries, by kind',
  }),
  bulkOperation: hash(
    'bulk-operation:<env>:<kind>:<id>',
    'Bulk operation: `definition`, `position` and `planned` as JSON; status, counts.',
    { owner: 'bulk/bulk-operations.ts', ttl: TTL, size: 'about 30 fields, 70 KB' },
  ),
  bulkOperationResults: list(
    'bulk-operation-results:<env>:<kind>:<id>:<list>',
    'What it did with each item, as JSON, in order.',
    { owner: 'bulk/bulk-operations.ts', ttl: TTL, size: '150,000 entries, or 1,000 of each list, by kind' },
  ),
  bulkOperationPortion: hash('bulk-operation-portion:<env>:<kind>:<id>', 'Run ID → event ID of runs being started.', {
    owner: 'bulk/started-runs.ts',
    ttl: TTL,
    size: '250 fields',
  }),
  bulkOperationRuns: set('bulk-operation-runs:<env>:<kind>:<id>', 'Active runs that a replay started.', {
    owner: 'bulk/started-runs.ts',
    ttl: TTL,
    size: '50,000 entries',
  }),
  dueBulkOperations: zset(
    'due-bulk-operations:<kind>',
    '`<env>/<ID>` of bulk operations of a kind, by next step (ms).',
    { owner: 'bulk/bulk-operations.ts', ttl: 'none', size: '1 entry per unfinished bulk operation' },
  ),
};
