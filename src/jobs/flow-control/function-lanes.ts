/** The lanes of functions, for people. */
import type { AppFunction } from '../../model/apps/app.ts';
import type { TriggerTable } from '../../model/events/triggers.ts';
import { flowOptionsOf } from '../../model/flow-control/function-options.ts';
import { orderIdOf } from '../../model/flow-control/order-id.ts';
import type { PartitionedIds } from '../../model/partitions/partitioned-ids.ts';
import { Composed } from '../../model/values/composed.ts';
import { sum } from '../../model/values/sum.ts';
import type { LaneCursor, LaneEntry, LaneStatus, Lanes } from '../../store/flow-control/lanes.ts';
import type { FunctionTables } from '../functions/function-tables.ts';
import type { LaneEnds } from './lane-ends.ts';
import { laneRunId, orderOptions } from './lane-orders.ts';

export interface FunctionLane extends LaneStatus {
  order: string;
  /** The active or failed run. */
  runId?: string;
  /** When its next event is due, Unix milliseconds; absent: that depends on the end of a run, or on a person. */
  nextAt?: number;
}

export interface FunctionLanesDeps {
  ids: PartitionedIds;
  functions: Pick<FunctionTables, 'of' | 'recent'>;
  lanes: Lanes;
  laneEnds: LaneEnds;
}

interface Page {
  isStopped: boolean;
  limit: number;
  cursor?: (LaneCursor & { order: number }) | undefined;
}

export class FunctionLanes extends Composed<FunctionLanesDeps> {
  /** Lanes that are not idle. */
  async list(
    env: string,
    fn: AppFunction,
    { isStopped, limit, cursor = { order: 0, partition: 0, offset: 0 } }: Page,
  ): Promise<{ lanes: FunctionLane[]; next: Page['cursor'] }> {
    const table = await this.deps.functions.of(env);
    const orders = this.#ordersOf(fn);
    const found: FunctionLane[] = [];
    let at: Page['cursor'] = cursor;
    while (at && found.length < limit) {
      const order: string | undefined = orders[at.order];
      if (order === undefined) return { lanes: found, next: undefined };
      const { windowMs } = orderOptions(table, order);
      const page = { isStopped, limit: limit - found.length, cursor: at };
      const { lanes, next } = await this.deps.lanes.list(env, order, windowMs, page);
      found.push(...lanes.map((lane) => this.#shown(order, windowMs, lane)));
      at = next ? { ...next, order: at.order } : { order: at.order + 1, partition: 0, offset: 0 };
    }
    return { lanes: found, next: at };
  }

  /** @returns the lane with the first events that wait in it; undefined: it is idle */
  async read(
    env: string,
    fn: AppFunction,
    laneId: string,
    most: number,
  ): Promise<(FunctionLane & { events: LaneEntry[] }) | undefined> {
    const { lanes, functions } = this.deps;
    const table: TriggerTable = await functions.of(env);
    for (const order of this.#ordersOf(fn)) {
      const { windowMs } = orderOptions(table, order);
      const lane = await lanes.read(env, order, windowMs, laneId);
      if (!lane) continue;
      return { ...this.#shown(order, windowMs, lane), events: await lanes.waitingIn(env, order, laneId, most) };
    }
    return undefined;
  }

  /** @returns whether a failed run stopped the lane */
  change(env: string, { order, id }: Pick<FunctionLane, 'order' | 'id'>, action: 'retry' | 'skip'): Promise<boolean> {
    return this.deps.laneEnds.change(env, { id, order }, action);
  }

  /** Events that wait, and lanes that failed runs stop. */
  async count(envs: readonly string[]): Promise<{ waiting: number; stopped: number }> {
    const { lanes, functions } = this.deps;
    let [waiting, stopped] = [0, 0];
    for (const env of envs) {
      waiting += sum([...(await lanes.counts(env)).values()]);
      const orders = [...(await functions.recent(env)).all()].flatMap((fn) => this.#ordersOf(fn));
      if (orders.length > 0) stopped += await lanes.stopped(env, [...new Set(orders)]);
    }
    return { waiting, stopped };
  }

  #ordersOf(fn: AppFunction): string[] {
    const order = flowOptionsOf(fn)?.order;
    return order ? [orderIdOf(fn, order)] : [];
  }

  #shown(order: string, windowMs: number, lane: LaneStatus): FunctionLane {
    const { current, state, firstAt, repeatsAt } = lane;
    const nextAt = state === 'waiting' && firstAt !== undefined ? firstAt + windowMs : repeatsAt;
    // The next run of a stopped lane has a number already.
    const failed = state === 'blocked' || state === 'parked' ? 1 : 0;
    return {
      ...lane,
      order,
      ...(current && { runId: laneRunId(this.deps.ids, current, current.number - failed) }),
      ...(nextAt !== undefined && { nextAt }),
    };
  }
}
