/** The kinds of bulk operations: maximum numbers, retention, and which results are kept. */
import type { ReplayDefinition } from '../../model/replays/replay.ts';
import { type BulkActionDefinition, withoutRunIds } from '../../model/runs/bulk-action.ts';
import type { CancellationDefinition } from '../../model/runs/cancellation.ts';
import { DAY_MS } from '../../model/values/time.ts';
import type { WhatIfDefinition } from '../../model/what-if/what-if.ts';
import { WEBHOOK_REPLAY_OUTCOMES, type WebhookReplayDefinition } from '../webhooks/webhook-replay.ts';
import type { BulkKind } from './bulk-kind.ts';

const KEPT_MAX_MS = 30 * DAY_MS;

/** How long a replay is kept. @param retentionMs retention of events and runs */
export function replayTtlMs(retentionMs: number): number {
  return Math.min(retentionMs, KEPT_MAX_MS);
}

export function replayKind(retentionMs: number): BulkKind<ReplayDefinition> {
  return {
    kind: 'replay',
    openMax: 10,
    keptMax: 1_000,
    noun: 'replays of the environment',
    remedy: 'cancel one',
    ttlMs: () => replayTtlMs(retentionMs),
    results: { lists: ['all'], max: 100_000, skippedMax: 50_000 },
  };
}

export function bulkActionKind(retentionMs: number): BulkKind<BulkActionDefinition> {
  return {
    kind: 'bulk-action',
    openMax: 10,
    keptMax: 200,
    noun: 'bulk actions of the environment',
    remedy: 'cancel one',
    ttlMs: () => retentionMs,
    whenOver: withoutRunIds,
    // The undo of a re-run reads the runs that it started from its results.
    results: { lists: ['all'], max: 150_000, skippedMax: 50_000, ttlMaxMs: 7 * DAY_MS },
  };
}

export function cancellationKind(retentionMs: number): BulkKind<CancellationDefinition> {
  return {
    kind: 'cancellation',
    openMax: 100,
    keptMax: 1_000,
    noun: 'cancellations of the environment',
    remedy: 'delete one',
    ttlMs: ({ before, createdAt }) => Math.max(0, before - createdAt) + retentionMs,
    results: { lists: [], max: 0 },
  };
}

export function webhookReplayKind(): BulkKind<WebhookReplayDefinition> {
  return {
    kind: 'webhook-replay',
    openMax: 20,
    keptMax: 200,
    noun: 'replays',
    remedy: 'cancel one',
    ttlMs: (_, isOver) => (isOver ? 7 * DAY_MS : KEPT_MAX_MS),
    whenOver: ({ draft: _, ...definition }) => definition,
    results: { lists: WEBHOOK_REPLAY_OUTCOMES, max: 1_000, keepsLast: true },
  };
}

export function whatIfKind(): BulkKind<WhatIfDefinition> {
  return {
    kind: 'what-if',
    openMax: 5,
    keptMax: 200,
    noun: 'what-ifs of the environment',
    remedy: 'cancel one',
    ttlMs: () => KEPT_MAX_MS,
    results: { lists: ['all'], max: 2_000 },
  };
}
