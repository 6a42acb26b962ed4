/** One view of hot data in Redis and archived data in Postgres. Data is archived before it leaves Redis, so readers ask Redis first.
 *  Without an archive, this is the store itself. */
import type { Archive } from '../archive/archive.ts';
import type { Bucket, CountedName } from '../store/events/event-counts.ts';
import type { ListedRuns } from '../store/runs/listed-runs.ts';
import type { RunHistogramQuery } from '../store/runs/run-histogram.ts';
import type { RunBrief } from '../store/runs/run-lists.ts';
import type { Store } from '../store/store.ts';
import { AuditLogHistory } from './audit-log.ts';
import { DecisionHistory } from './decisions.ts';
import { EventCountHistory } from './event-counts.ts';
import { EventHistory } from './event-history.ts';
import { EventListHistory, type ListedEvents } from './event-lists.ts';
import { ListedRunHistory } from './listed-runs.ts';
import type { MaybeIncomplete } from './merged-page.ts';
import { PastEvents } from './past-events.ts';
import { type CountedRuns, RunHistogramHistory } from './run-histogram.ts';
import { RunHistory } from './run-history.ts';
import { type ListedRunPage, RunListHistory } from './run-lists.ts';
import { RunPartHistory } from './run-parts.ts';
import { RunReturns } from './run-returns.ts';
import { WebhookLogHistory } from './webhook-log.ts';
import { WholeRunHistory } from './whole-runs.ts';

export interface History {
  events: Pick<Store['events'], 'read' | 'readMany' | 'present' | 'record' | 'records' | 'envelopes' | 'isIngested'>;
  /** For waits and cancel triggers that look back. */
  pastEvents: Pick<Store['events'], 'since'>;
  eventLists: {
    list(...query: Parameters<Store['eventLists']['list']>): Promise<ListedEvents>;
    listById(...query: Parameters<Store['eventLists']['listById']>): Promise<ListedEvents>;
  };
  eventCounts: {
    histogram(
      ...query: Parameters<Store['eventCounts']['histogram']>
    ): Promise<{ buckets: Bucket[] } & MaybeIncomplete>;
    names(...query: Parameters<Store['eventCounts']['names']>): Promise<{ names: CountedName[] } & MaybeIncomplete>;
  };
  decisions: Pick<Store['decisions'], 'of'>;
  runs: Pick<Store['runs'], 'read' | 'readMany' | 'present' | 'copySteps'>;
  runLists: Pick<Store['runLists'], 'readByEvent'> & {
    /** @param whenUnavailable `throw`: fail instead of omitting archived runs while Postgres is down */
    briefsByEvent(env: string, eventIds: readonly string[], whenUnavailable?: 'hot' | 'throw'): Promise<RunBrief[][]>;
    list(...query: Parameters<Store['runLists']['list']>): Promise<ListedRunPage>;
    listByEvent(...query: Parameters<Store['runLists']['listByEvent']>): Promise<ListedRunPage>;
  };
  runHistogram: Pick<Store['runHistogram'], 'bounds'> & { count(query: RunHistogramQuery): Promise<CountedRuns> };
  /** Outputs of runs in lists. */
  listedRuns: Pick<ListedRuns, 'outputSizes' | 'outputs'>;
  runParts: Pick<Store['runParts'], 'read'>;
  wholeRuns: Pick<WholeRunHistory, 'read'>;
  steps: Pick<Store['steps'], 'memo' | 'progress'>;
  runMetadata: Pick<Store['runMetadata'], 'update'>;
  /** undefined without an archive. */
  runReturns?: Pick<RunReturns, 'bringBack'>;
  webhookLog: Pick<Store['webhookLog'], 'list' | 'listOldest' | 'stats' | 'read' | 'remove' | 'maxRequests'>;
  auditLog: Pick<Store['auditLog'], 'list'>;
}

export function createHistory(store: Store, archive: Archive | undefined): History {
  const wholeRuns = new WholeRunHistory({ store, archive: undefined, events: store.events });
  const hot: History = { ...store, listedRuns: store.runLists.listed, pastEvents: store.events, wholeRuns };
  if (!archive) return hot;
  const events = new EventHistory({ events: store.events, archive });
  const { runs, offloadedRuns, runStatuses, restoredSteps, runLists } = store;
  const runReturns = new RunReturns({ store, archive, events });
  offloadedRuns.readFrom(runReturns);
  const runParts = new RunPartHistory(store, archive);
  return {
    ...hot,
    events,
    pastEvents: new PastEvents({ events: store.events, archive }),
    eventLists: new EventListHistory({ events: store.events, lists: store.eventLists, history: events, archive }),
    eventCounts: new EventCountHistory({ counts: store.eventCounts, archive }),
    runs: new RunHistory({ runs, offloadedRuns, restoredSteps, archive }),
    runLists: new RunListHistory({ store, archive, isInRedis: (env, id) => events.isInRedis(env, id) }),
    runHistogram: new RunHistogramHistory({ histogram: store.runHistogram, archive }),
    listedRuns: new ListedRunHistory({ listed: runLists.listed, runStatuses, archive }),
    runReturns,
    runParts,
    wholeRuns: new WholeRunHistory({ store, archive, events }),
    steps: runParts,
    runMetadata: runParts,
    decisions: new DecisionHistory({ decisions: store.decisions, events, archive }),
    webhookLog: new WebhookLogHistory({
      hot: store.webhookLog,
      unarchived: store.unarchivedRequests,
      archived: archive.requests,
    }),
    auditLog: new AuditLogHistory({ hot: store.auditLog, archived: archive.audit }),
  };
}
