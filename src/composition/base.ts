/** Parts that all others build on: settings, metrics, the store, and the joint view of hot and archived data. */

import { type Archive, createArchive } from '../archive/archive.ts';
import type { WebhookBodyStore } from '../archive/webhook-bodies.ts';
import { createHistory, type History } from '../history/history.ts';
import type { ProcessMetrics } from '../metrics/process-metrics.ts';
import { MemoryBudget } from '../model/capacity/memory-budget.ts';
import type { Clock } from '../model/values/clock.ts';
import { LARGE_BODY_MEMORY } from '../model/webhooks/large-bodies.ts';
import type { Store } from '../store/store.ts';
import { bodyStoreOf, retentionsOf } from './archive.ts';
import type { Core } from './core.ts';

export interface BaseParts extends Omit<Store, 'functions' | 'decisions'>, Omit<Core, 'metrics'> {
  clock: Clock;
  store: Store;
  /** undefined: metrics are off. */
  processMetrics: ProcessMetrics | undefined;
  /** Functions as stored in Redis; `functions` has the tables in memory. */
  storedFunctions: Store['functions'];
  /** Decisions as stored in Redis; `decisions` also counts them. */
  storedDecisions: Store['decisions'];
  /** undefined without an archive. */
  archive: Archive | undefined;
  /** Keeps large bodies of webhooks; undefined without an archive and a bucket. */
  bodyStore: WebhookBodyStore | undefined;
  bodyMemory: MemoryBudget;
  history: History;
}

export function baseParts({ metrics: processMetrics, ...core }: Core, store: Store): BaseParts {
  const { functions: storedFunctions, decisions: storedDecisions, ...stored } = store;
  const archive = createArchive(core.config, retentionsOf(core.config, store), core.log);
  const history = createHistory(store, archive);
  return {
    ...core,
    ...stored,
    // Looked up each time: the clock of dev mode can be moved.
    clock: () => Date.now(),
    store,
    processMetrics,
    storedFunctions,
    storedDecisions,
    archive,
    bodyStore: bodyStoreOf(core.config, archive),
    bodyMemory: new MemoryBudget(LARGE_BODY_MEMORY),
    history,
  };
}
