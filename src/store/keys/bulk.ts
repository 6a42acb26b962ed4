/** Keys of bulk operations. */
import type { KeyDeclaration } from './key-declaration.ts';

/** Shared by all partitions, because a bulk operation covers the data of each. */
export const bulkKeys = (prefix: string) => ({
  bulkOperations: (env: string, kind: string) => `${prefix}:bulk-operations:${env}:${kind}`,
  openBulkOperations: (env: string, kind: string) => `${prefix}:open-bulk-operations:${env}:${kind}`,
  bulkOperation: (env: string, kind: string, id: string) => `${prefix}:bulk-operation:${env}:${kind}:${id}`,
  bulkOperationResults: (env: string, kind: string, id: string, list: string) =>
    `${prefix}:bulk-operation-results:${env}:${kind}:${id}:${list}`,
  bulkOperationPortion: (env: string, kind: string, id: string) =>
    `${prefix}:bulk-operation-portion:${env}:${kind}:${id}`,
  bulkOperationRuns: (env: string, kind: string, id: string) => `${prefix}:bulk-operation-runs:${env}:${kind}:${id}`,
  dueBulkOperations: (kind: string) => `${prefix}:due-bulk-operations:${kind}`,
});

const TTL = '30 days at most, by kind; renewed';

export const BULK_KEY_DECLARATIONS = {
  bulkOperations: {
    pattern: 'bulk-operations:<env>:<kind>',
    type: 'zset',
    owner: 'bulk/bulk-operations.ts',
    ttl: TTL,
    size: '200 or 1,000 entries, by kind',
    description: 'Bulk operations of a kind, by creation (ms).',
  },
  openBulkOperations: {
    pattern: 'open-bulk-operations:<env>:<kind>',
    type: 'set',
    owner: 'bulk/bulk-operations.ts',
    ttl: TTL,
    size: '10 to 100 entries, by kind',
    description: 'Those that run or are paused.',
  },
  bulkOperation: {
    pattern: 'bulk-operation:<env>:<kind>:<id>',
    type: 'hash',
    owner: 'bulk/bulk-operations.ts',
    ttl: TTL,
    size: 'about 30 fields, 70 KB',
    description: 'Bulk operation: `definition`, `position` and what is being done (`planned`) as JSON; status, counts.',
  },
  bulkOperationResults: {
    pattern: 'bulk-operation-results:<env>:<kind>:<id>:<list>',
    type: 'list',
    owner: 'bulk/bulk-operations.ts',
    ttl: TTL,
    size: '100,000 entries, or 1,000 of each list, by kind',
    description: 'What it did with each event, run or request, as JSON, in order.',
  },
  bulkOperationPortion: {
    pattern: 'bulk-operation-portion:<env>:<kind>:<id>',
    type: 'hash',
    owner: 'bulk/started-runs.ts',
    ttl: TTL,
    size: '250 fields',
    description: 'Run ID → event ID of runs being started, for a worker that takes over.',
  },
  bulkOperationRuns: {
    pattern: 'bulk-operation-runs:<env>:<kind>:<id>',
    type: 'set',
    owner: 'bulk/started-runs.ts',
    ttl: TTL,
    size: '50,000 entries',
    description: 'Active runs that a replay started.',
  },
  dueBulkOperations: {
    pattern: 'due-bulk-operations:<kind>',
    type: 'zset',
    owner: 'bulk/bulk-operations.ts',
    ttl: 'none',
    size: '1 entry per unfinished bulk operation',
    description: '`<env>/<ID>` of bulk operations of a kind, by next step (ms).',
  },
} as const satisfies Record<keyof ReturnType<typeof bulkKeys>, KeyDeclaration>;
