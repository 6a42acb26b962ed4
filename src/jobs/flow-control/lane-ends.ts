/** What the end of a run, or a person, does to a lane. */
import type { LaneTurn } from '../../model/flow-control/options.ts';
import type { Run } from '../../model/runs/run.ts';
import { Composed } from '../../model/values/composed.ts';
import type { LaneAction, LaneEntry, Lanes } from '../../store/flow-control/lanes.ts';
import type { LaneOrders } from './lane-orders.ts';
import type { TimerChecks } from './timer-checks.ts';

export interface LaneEndsDeps {
  lanes: Pick<Lanes, 'change'>;
  laneOrders: LaneOrders;
  timerChecks: TimerChecks;
}

export class LaneEnds extends Composed<LaneEndsDeps> {
  /** Call when a run has ended; again, it does nothing. */
  async follow({ env, keys, eventId, functionId, status }: Run): Promise<void> {
    const turn = keys?.lane;
    if (!turn) return;
    const { functions } = await this.deps.laneOrders.of(env, turn.order);
    const { onFailure } = functions.find(({ id }) => id === functionId) ?? { onFailure: 'skip' as const };
    const action = status !== 'Failed' || onFailure === 'skip' ? 'next' : onFailure;
    // Another run of its event that fails tells nothing new.
    if (turn.number === undefined && status !== 'Completed') return;
    await this.change(env, turn, action, { eventId, functionId });
  }

  /** @param entry of a run that has ended; absent for people
   *  @returns whether the lane has changed */
  async change(env: string, turn: LaneTurn, action: LaneAction, entry?: LaneEntry): Promise<boolean> {
    const { lanes, laneOrders, timerChecks } = this.deps;
    const options = await laneOrders.of(env, turn.order);
    const { changed, timerChecks: wanted } = await lanes.change(env, turn, options, action, entry);
    await timerChecks.set('lane', env, turn.order, wanted);
    return changed;
  }
}
