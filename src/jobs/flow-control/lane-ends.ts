/** Applies the end of a run, or a user's decision, to its lane. */
import type { LaneTurn } from '../../model/flow-control/options.ts';
import type { Run } from '../../model/runs/run.ts';
import { Composed } from '../../model/values/composed.ts';
import type { LaneAction, LaneEntry, Lanes } from '../../store/flow-control/lanes.ts';
import type { DecisionLog } from './flow-control.ts';
import type { LaneOrders } from './lane-orders.ts';
import type { TimerChecks } from './timer-checks.ts';

/** Events whose decisions change when their lane stops. */
const DECISIONS_MAX = 100;

export class LaneEnds extends Composed<{
  lanes: Pick<Lanes, 'change' | 'waitingIn'>;
  decisions: Pick<DecisionLog, 'add'>;
  laneOrders: LaneOrders;
  timerChecks: TimerChecks;
}> {
  /** Call when a run has ended. A second call does nothing. */
  async follow({ id, env, keys, eventId, functionId, status }: Run): Promise<void> {
    const turn = keys?.lane;
    if (!turn) return;
    const { functions } = await this.deps.laneOrders.of(env, turn.order);
    const { onFailure } = functions.find(({ id }) => id === functionId) ?? { onFailure: 'skip' as const };
    const action = status !== 'Failed' || onFailure === 'skip' ? 'next' : onFailure;
    // A failed re-run of its event changes nothing.
    if (turn.number === undefined && status !== 'Completed') return;
    const isChanged = await this.change(env, turn, action, { eventId, functionId });
    if (isChanged && action !== 'next') await this.#recordParked(env, turn, id);
  }

  /** Stores decisions about the first waiting events, with the run that stops their lane. */
  async #recordParked(env: string, { id, order }: LaneTurn, runId: string): Promise<void> {
    const waiting = await this.deps.lanes.waitingIn(env, order, id, DECISIONS_MAX);
    if (waiting.length === 0) return;
    await this.deps.decisions.add(waiting.map((entry) => ({ env, ...entry, reason: 'parked', runId })));
  }

  /** @param entry entry of the run that has ended; absent if a person decides
   *  @returns whether the lane has changed */
  async change(env: string, turn: LaneTurn, action: LaneAction, entry?: LaneEntry): Promise<boolean> {
    const { lanes, laneOrders, timerChecks } = this.deps;
    const options = await laneOrders.of(env, turn.order);
    const { changed, timerChecks: wanted } = await lanes.change(env, turn, options, action, entry);
    await timerChecks.set('lane', env, turn.order, wanted);
    return changed;
  }
}
