/** Bulk operations, and the runs that they start. */
import type { ReplayDefinition, ReplayPosition } from '../../model/replays/replay.ts';
import type { BulkActionDefinition, BulkPosition } from '../../model/runs/bulk-action.ts';
import type { CancellationDefinition, CancellationPass } from '../../model/runs/cancellation.ts';
import type { WhatIfDefinition, WhatIfPosition } from '../../model/what-if/what-if.ts';
import type { StoreContext } from '../store-context.ts';
import type { WebhookReplayDefinition, WebhookReplayPosition } from '../webhooks/webhook-replay.ts';
import { BulkOperations } from './bulk-operations.ts';
import { EarlierOperations } from './earlier-operations.ts';
import { bulkActionKind, cancellationKind, replayKind, replayTtlMs, webhookReplayKind, whatIfKind } from './kinds.ts';
import { StartedRuns } from './started-runs.ts';

export interface BulkStore {
  replays: BulkOperations<ReplayDefinition, ReplayPosition>;
  replayedRuns: StartedRuns;
  bulkActions: BulkOperations<BulkActionDefinition, BulkPosition | null>;
  cancellations: BulkOperations<CancellationDefinition, CancellationPass | null>;
  /** Operations of the whole installation. */
  webhookReplays: BulkOperations<WebhookReplayDefinition, WebhookReplayPosition>;
  whatIfs: BulkOperations<WhatIfDefinition, WhatIfPosition>;
  earlierOperations: EarlierOperations;
}

export function createBulkStore({ redis, keys, locks, config: { retentionMs } }: StoreContext): BulkStore {
  return {
    replays: new BulkOperations(redis, keys, replayKind(retentionMs)),
    replayedRuns: new StartedRuns(redis, keys, { kind: 'replay', ttlMs: replayTtlMs(retentionMs) }),
    bulkActions: new BulkOperations(redis, keys, bulkActionKind(retentionMs)),
    cancellations: new BulkOperations(redis, keys, cancellationKind(retentionMs)),
    webhookReplays: new BulkOperations(redis, keys, webhookReplayKind()),
    whatIfs: new BulkOperations(redis, keys, whatIfKind()),
    earlierOperations: new EarlierOperations(redis, keys, { locks }),
  };
}
