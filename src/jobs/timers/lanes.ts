/** The timer of lanes: starts the runs of the events that leave their lanes. An event is removed only after its run
 *  exists, so a worker may die at any point. It also checks runs whose ends may have been lost. */
import type { Envelope } from '../../model/events/event.ts';
import type { TriggerTable } from '../../model/events/triggers.ts';
import type { Decision } from '../../model/flow-control/decision.ts';
import type { PartitionedIds } from '../../model/partitions/partitioned-ids.ts';
import { hasEnded } from '../../model/runs/run.ts';
import { Composed } from '../../model/values/composed.ts';
import { DAY_MS } from '../../model/values/time.ts';
import type { LeavingEvent } from '../../store/flow-control/lanes.ts';
import type { Store } from '../../store/store.ts';
import type { EventRestorer } from '../archive/event-restorer.ts';
import type { DecisionLog } from '../flow-control/flow-control.ts';
import type { LaneEnds } from '../flow-control/lane-ends.ts';
import { type LaneOrders, laneRunId } from '../flow-control/lane-orders.ts';
import { inLane } from '../flow-control/lane-stage.ts';
import type { FlowStage, RunProposal } from '../flow-control/run-proposal.ts';
import type { TimerChecks } from '../flow-control/timer-checks.ts';
import type { FunctionTables } from '../functions/function-tables.ts';
import type { EventGroupTimer } from '../queues/queues.ts';
import type { GroupRunStarter } from './group-runs.ts';

type InLane = Extract<LeavingEvent, { kind: 'start' | 'look' }>;
type Starting = Exclude<LeavingEvent, { kind: 'superseded' }>;

/** The missing run of an older event is not lost: it is no longer kept. */
const LOST_WITHIN_MS = DAY_MS;

function isStarting(event: LeavingEvent): event is Starting {
  return event.kind === 'start' || event.kind === 'free';
}

export class LaneTimers extends Composed<{
  ids: PartitionedIds;
  /** Runs read their events from Redis. */
  eventRestorer: EventRestorer;
  functions: FunctionTables;
  laneOrders: LaneOrders;
  decisions: Pick<DecisionLog, 'add'>;
  timerChecks: TimerChecks;
  groupRunStarter: GroupRunStarter;
  lanes: Pick<Store['lanes'], 'take' | 'complete'>;
  laneStage: FlowStage;
  laneEnds: LaneEnds;
  runStatuses: Pick<Store['runStatuses'], 'of'>;
  /** Both include archived data. */
  history: { events: Pick<Store['events'], 'envelopes'>; runs: Pick<Store['runs'], 'read'> };
}> {
  async handle({ kind, env, functionId: order, partition, at }: EventGroupTimer): Promise<void> {
    const { functions, laneOrders, timerChecks, groupRunStarter, lanes } = this.deps;
    if (!(await groupRunStarter.exists(env))) return;
    const table = await functions.of(env);
    const options = await laneOrders.of(env, order, table);
    const taken = await lanes.take(partition, env, order, options, at);
    let wanted = taken.timerChecks;
    if (taken.closed.length > 0) {
      const starting = [...taken.closed.filter(isStarting), ...(await this.#lost(env, taken.closed))];
      await this.#start(env, order, table, starting);
      await this.#decide(env, taken.closed);
      wanted = (await lanes.complete(partition, env, order, options, taken.closed)).timerChecks;
    }
    await timerChecks.set(kind, env, order, wanted);
  }

  async #start(env: string, order: string, table: TriggerTable, starting: readonly Starting[]): Promise<void> {
    const { eventRestorer, groupRunStarter, history, laneStage } = this.deps;
    const events = await history.events.envelopes(
      env,
      starting.map(({ eventId }) => eventId),
    );
    const proposals: RunProposal[] = [];
    for (const event of starting) {
      const proposal = this.#proposalOf(order, table, event, events.get(event.eventId));
      if (proposal) proposals.push(proposal);
      // Its event is no longer kept, or its function is gone.
      else if (event.kind !== 'free') await this.#continueLane(env, order, event);
    }
    await eventRestorer.ensure(
      env,
      proposals.map(({ event }) => event.internalId),
    );
    await groupRunStarter.start(proposals, laneStage);
  }

  #proposalOf(
    order: string,
    table: TriggerTable,
    leaving: Starting,
    event: Envelope | undefined,
  ): RunProposal | undefined {
    const fn = table.find(leaving.functionId);
    if (!fn || !event) return undefined;
    if (leaving.kind === 'look' && Date.now() - event.receivedAt > LOST_WITHIN_MS) return undefined;
    const number = leaving.kind === 'free' ? 0 : leaving.number;
    const id = laneRunId(this.deps.ids, leaving, number);
    const retryOf = number > 0 && { retryOf: laneRunId(this.deps.ids, leaving, number - 1) };
    const proposal: RunProposal = { id, fn, event, dueAt: event.ts, cause: 'event', repeated: true, ...retryOf };
    return leaving.kind === 'free' ? proposal : inLane(proposal, order, leaving.laneId, number);
  }

  /** Runs that do not exist, because a process died before it created them. A lane whose run has ended continues. */
  async #lost(env: string, leaving: readonly LeavingEvent[]): Promise<InLane[]> {
    const { ids, runStatuses, history, laneEnds } = this.deps;
    const looks = leaving.flatMap((event) => {
      return event.kind === 'look' ? [{ event, env, id: laneRunId(ids, event, event.number) }] : [];
    });
    const statuses = looks.length === 0 ? new Map() : await runStatuses.of(looks);
    const lost: InLane[] = [];
    for (const { event, id } of looks) {
      const status = statuses.get(id);
      if (status && !hasEnded({ status })) continue;
      // An ended run may be archived.
      const run = await history.runs.read(env, id);
      if (!run) lost.push(event);
      else if (hasEnded(run)) await laneEnds.follow(run);
    }
    return lost;
  }

  async #continueLane(env: string, order: string, { laneId: id, number, ...entry }: InLane): Promise<void> {
    await this.deps.laneEnds.change(env, { id, order, number }, 'next', entry);
  }

  async #decide(env: string, leaving: readonly LeavingEvent[]): Promise<void> {
    const decisions = leaving.flatMap((event): Decision[] => {
      if (event.kind !== 'superseded') return [];
      const { eventId, functionId, by } = event;
      return [{ env, eventId, functionId, reason: 'superseded', runId: laneRunId(this.deps.ids, by, 0) }];
    });
    if (decisions.length > 0) await this.deps.decisions.add(decisions);
  }
}
