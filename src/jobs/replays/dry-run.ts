/** Computes what a replay would do. Bounded in time: its counts may then be lower bounds. */

import { newId } from '../../model/ids.ts';
import type { FormerStatus, ReplaySelection } from '../../model/replays/replay.ts';
import { addTo } from '../../model/values/counting.ts';
import { FIRST_WINDOW_MS } from './event-windows.ts';
import type { ReplayPlanner } from './planner.ts';

const LIMIT = 200;
const SAMPLE_MAX = 20;
const DRY_RUN_MS = 5_000;
/** Maximum number of remembered runs: several events of a batch request the same run. */
const REMEMBERED_MAX = 100_000;

export interface ReplayDryRun {
  lookedAt: number;
  matched: number;
  wouldStart: Map<string, Map<FormerStatus, number>>;
  skipped: Map<string, number>;
  sample: {
    eventId: string;
    eventName: string;
    receivedAt: number;
    functionId: string;
    formerStatus: FormerStatus;
    formerRunId: string | undefined;
  }[];
  /** Time of receipt up to which the dry run counted; undefined if it counted everything. */
  stoppedAt: number | undefined;
}

export async function previewReplay(
  selection: ReplaySelection,
  planner: ReplayPlanner,
  timeoutMs: number = DRY_RUN_MS,
): Promise<ReplayDryRun> {
  const begunAt = performance.now();
  const result: ReplayDryRun = {
    lookedAt: 0,
    matched: 0,
    wouldStart: new Map(),
    skipped: new Map(),
    sample: [],
    stoppedAt: undefined,
  };
  const planned = new Map<string, string>();
  const replay = { ...selection, id: newId() };
  let position: Parameters<ReplayPlanner['next']>[0]['position'] = { at: selection.after };
  let windowMs = FIRST_WINDOW_MS;
  for (;;) {
    const plan = await planner.next({ selection: replay, position, windowMs, limit: LIMIT, planned });
    for (const event of plan.events) add(result, event, planned);
    if (plan.isEnd) return result;
    ({ next: position, windowMs } = plan);
    if (performance.now() - begunAt > timeoutMs) return { ...result, stoppedAt: position.at };
  }
}

function add(
  result: ReplayDryRun,
  { event, matched, pairs }: Awaited<ReturnType<ReplayPlanner['next']>>['events'][number],
  planned: Map<string, string>,
): void {
  result.lookedAt++;
  if (matched) result.matched++;
  for (const { functionId, former, formerRunId, start, skip } of pairs) {
    if (skip) addTo(result.skipped, skip.reason);
    if (!start) continue;
    if (start.batch && planned.size < REMEMBERED_MAX) planned.set(start.runId, event.internal_id);
    const byStatus = result.wouldStart.get(functionId) ?? new Map<FormerStatus, number>();
    addTo(byStatus, former);
    result.wouldStart.set(functionId, byStatus);
    if (result.sample.length >= SAMPLE_MAX) continue;
    const { internal_id: eventId, name: eventName, received_at: receivedAt } = event;
    result.sample.push({ eventId, eventName, receivedAt, functionId, formerStatus: former, formerRunId });
  }
}
