/** What the service shows of events, runs and replays, as entries of the history. */
import { functionIdOf, WAITING } from '../apps/limits.ts';
import type { Decision, Entry, StoredEvent, StoredRun, StoredWait } from '../history/entry.ts';
import type { EventState, Expectations } from '../history/properties/completion.ts';
import type { Acknowledged } from '../load/ledger.ts';
import type { Service } from '../service.ts';
import type { Timeline } from '../timeline.ts';

/** Acknowledged events, and their runs. */
export interface Acknowledgements {
  events: StoredEvent[];
  runs: StoredRun[];
}

interface EventView {
  internal_id: string;
  name: string;
  data?: { id?: unknown } | null;
}

interface RunView {
  run_id: string;
  function_id: string;
  event_ids: string[];
  status: string;
  run_started_at: string | null;
  retry_of: string | null;
  replay_id: string | null;
  error?: { name: string; message: string } | null;
}

interface HistoryView {
  op: string | null;
  name: string | null;
  started_at: string | null;
  until: string | null;
  event_id: string | null;
  timed_out: boolean;
}

interface DecisionView {
  function_id: string;
  outcome: string;
  reason: string | null;
  run_ids: string[];
  until: string | null;
}

/** An acknowledged event with its runs, and with its decisions if a function that may skip it has no run. */
export async function readEvent(
  service: Service,
  timeline: Timeline,
  { internalId: eventId, name }: Acknowledged,
  { functionsOf }: Expectations,
): Promise<EventState> {
  const views = await service.get<RunView[]>(`/v1/events/${eventId}/runs`);
  const event = await service.get<EventView>(`/v1/events/${eventId}`);
  if (!views || !event) return { eventId, name, stored: undefined, runs: [] };
  const runs = views.map((view) => toRun(timeline, view));
  const maySkip = functionsOf(name).some(
    ({ functionId, skips }) => skips.length > 0 && !runs.some((run) => run.functionId === functionId),
  );
  const path = `/v1/events/${eventId}/decisions`;
  const decisions = maySkip ? ((await service.get<DecisionView[]>(path)) ?? []) : [];
  const stored = {
    ...toEvent(event),
    ...(maySkip && { decisions: decisions.map((one) => toDecision(timeline, one)) }),
  };
  return { eventId, name, stored, runs };
}

/** Everything at the end.
 *  @param known what was read before */
export async function takeSnapshot(service: Service, timeline: Timeline, known: Acknowledgements): Promise<Entry[]> {
  const events = new Map(known.events.map((event) => [event.eventId, event]));
  for (const view of await service.list<EventView>('/v1/events?limit=100'))
    if (!events.has(view.internal_id)) events.set(view.internal_id, toEvent(view));
  const runs = new Map(known.runs.map((run) => [run.runId, run]));
  for (const view of await service.list<RunView>('/v1/runs?limit=100')) runs.set(view.run_id, toRun(timeline, view));
  for (const run of runs.values())
    if (run.functionId === functionIdOf(WAITING.id)) run.waits = await waitsOf(service, timeline, run.runId);
  const replays = await service.list<{ id: string; status: string; progress: { started: number } }>(
    '/v1/replays?limit=100',
  );
  return [
    ...events.values(),
    ...runs.values(),
    ...replays.map(({ id, status, progress }) => ({
      ...{ kind: 'replay' as const, replayId: id, status, started: progress.started },
    })),
  ];
}

async function waitsOf(service: Service, timeline: Timeline, runId: string): Promise<StoredWait[]> {
  const run = await service.get<{ history: HistoryView[] }>(`/v1/runs/${runId}`);
  return (run?.history ?? []).flatMap(({ op, name, started_at, until, event_id, timed_out }) =>
    op !== 'WaitForEvent' || !started_at || !until
      ? []
      : [
          {
            step: name ?? '',
            sinceMs: timeline.sinceStart(Date.parse(started_at)),
            untilMs: timeline.sinceStart(Date.parse(until)),
            eventId: event_id,
            timedOut: timed_out,
          },
        ],
  );
}

function toEvent({ internal_id, name, data }: EventView): StoredEvent {
  const sentId = data?.id;
  return { kind: 'event', eventId: internal_id, name, ...(typeof sentId === 'string' && { sentId }) };
}

function toRun(timeline: Timeline, view: RunView): StoredRun {
  const { run_id, function_id, event_ids, status, run_started_at, retry_of, replay_id, error } = view;
  return {
    kind: 'run',
    runId: run_id,
    functionId: function_id,
    eventIds: event_ids,
    status,
    retryOf: retry_of,
    replayId: replay_id,
    ...(run_started_at && { startedMs: timeline.sinceStart(Date.parse(run_started_at)) }),
    ...(error && { error: `${error.name}: ${error.message}` }),
  };
}

function toDecision(timeline: Timeline, { function_id, outcome, reason, run_ids, until }: DecisionView): Decision {
  return {
    functionId: function_id,
    outcome,
    reason,
    runIds: run_ids,
    ...(until && { untilMs: timeline.sinceStart(Date.parse(until)) }),
  };
}
