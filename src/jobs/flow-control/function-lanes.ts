/** The lanes of functions, as the API shows them. */
import type { AppFunction } from '../../model/apps/app.ts';
import { flowOptionsOf } from '../../model/flow-control/function-options.ts';
import { orderIdOf, takesOrderOfWebhook, webhookOrderId } from '../../model/flow-control/order-id.ts';
import type { PartitionedIds } from '../../model/partitions/partitioned-ids.ts';
import { Composed } from '../../model/values/composed.ts';
import { sum } from '../../model/values/sum.ts';
import type { LaneCursor, LaneEntry, LaneStatus, Lanes } from '../../store/flow-control/lanes.ts';
import type { Webhooks } from '../../store/webhooks/webhooks.ts';
import type { LaneEnds } from './lane-ends.ts';
import { type LaneOrders, laneRunId } from './lane-orders.ts';

export interface FunctionLane extends LaneStatus {
  order: string;
  /** The active or failed run. */
  runId?: string;
  /** The time at which its next event is due, Unix milliseconds; absent: the end of a run, or a person, decides. */
  nextAt?: number;
}

interface Page {
  isStopped: boolean;
  limit: number;
  cursor?: (LaneCursor & { order: number }) | undefined;
}

export class FunctionLanes extends Composed<{
  ids: PartitionedIds;
  laneOrders: LaneOrders;
  webhooks: Pick<Webhooks, 'all'>;
  lanes: Lanes;
  laneEnds: LaneEnds;
}> {
  /** Lanes that are not idle. */
  async list(env: string, fn: AppFunction, page: Page): Promise<{ lanes: FunctionLane[]; next: Page['cursor'] }> {
    return this.#listIn(env, await this.#ordersOf(fn), page);
  }

  /** Lanes that failed runs stop, of all functions.
   *  @param limits maximum number of orders, and of lanes of each */
  async stopped(env: string, limits: { orders: number; lanes: number }): Promise<FunctionLane[]> {
    const orders = (await this.deps.lanes.stoppedOrders(env)).slice(0, limits.orders);
    const pages = orders.map((order) => this.#listIn(env, [order], { isStopped: true, limit: limits.lanes }));
    return (await Promise.all(pages)).flatMap(({ lanes }) => lanes);
  }

  /** @returns the lane with the first events that wait in it; undefined: it is idle */
  async read(
    env: string,
    fn: AppFunction,
    laneId: string,
    most: number,
  ): Promise<(FunctionLane & { events: LaneEntry[] }) | undefined> {
    const { lanes, laneOrders } = this.deps;
    for (const order of await this.#ordersOf(fn)) {
      const { windowMs } = await laneOrders.of(env, order);
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
    const all = await Promise.all(envs.map((env) => this.deps.lanes.count(env)));
    return { waiting: sum(all, ({ waiting }) => waiting), stopped: sum(all, ({ stopped }) => stopped) };
  }

  async #listIn(
    env: string,
    orders: readonly string[],
    { isStopped, limit, cursor = { order: 0, list: 0, offset: 0 } }: Page,
  ): Promise<{ lanes: FunctionLane[]; next: Page['cursor'] }> {
    const found: FunctionLane[] = [];
    let at: Page['cursor'] = cursor;
    while (at && found.length < limit) {
      const order: string | undefined = orders[at.order];
      if (order === undefined) return { lanes: found, next: undefined };
      const { windowMs } = await this.deps.laneOrders.of(env, order);
      const page = { isStopped, limit: limit - found.length, cursor: at };
      const { lanes, next } = await this.deps.lanes.list(env, order, windowMs, page);
      found.push(...lanes.map((lane) => this.#shown(order, windowMs, lane)));
      at = next ? { ...next, order: at.order } : { order: at.order + 1, list: 0, offset: 0 };
    }
    return { lanes: found, next: at };
  }

  /** Returns the function's own order, or those of all webhooks, because their events may start it. */
  async #ordersOf(fn: AppFunction): Promise<string[]> {
    const order = flowOptionsOf(fn)?.order;
    if (order) return [orderIdOf(fn, order)];
    if (!takesOrderOfWebhook(fn)) return [];
    const webhooks = await this.deps.webhooks.all();
    return webhooks.filter((webhook) => webhook.order).map(({ id }) => webhookOrderId(fn.id, id));
  }

  #shown(order: string, windowMs: number, lane: LaneStatus): FunctionLane {
    const { current, state, firstAt, repeatsAt } = lane;
    const nextAt = state === 'waiting' && firstAt !== undefined ? firstAt + windowMs : repeatsAt;
    // The next run of a stopped lane already has a number.
    const failed = state === 'blocked' || state === 'parked' ? 1 : 0;
    return {
      ...lane,
      order,
      ...(current && { runId: laneRunId(this.deps.ids, current, current.number - failed) }),
      ...(nextAt !== undefined && { nextAt }),
    };
  }
}
