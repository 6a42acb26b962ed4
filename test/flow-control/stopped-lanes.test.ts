import { expect } from 'chai';
import { FunctionLanes } from '../../src/jobs/flow-control/function-lanes.ts';
import { LaneOrders } from '../../src/jobs/flow-control/lane-orders.ts';
import { TriggerTable } from '../../src/model/events/triggers.ts';
import { webhookOrderId } from '../../src/model/flow-control/order-id.ts';
import { newId } from '../../src/model/ids.ts';
import { laneIdOf, laneValues } from '../../src/store/flow-control/lanes.ts';
import { functionWith } from '../support/flow-stages.ts';
import { type OwnStore, openStore } from '../support/own-store.ts';

const ENV = 'production';
const WEBHOOK_ORDER = webhookOrderId('app-f', 'hook');

describe('Stopped lanes', () => {
  let store: OwnStore;
  beforeEach(async () => {
    store = await openStore();
  });
  afterEach(() => store.close());

  const functionLanes = (): FunctionLanes => {
    const table = new TriggerTable([functionWith({}, 'app-f')]);
    const functions = { recent: async () => table };
    const laneOrders = new LaneOrders({ functions, webhooks: store.webhooks });
    return new FunctionLanes({ ...store, laneOrders, laneEnds: {} as never });
  };
  /** An event whose run begins. @returns its lane, with the event */
  async function begin(order: string, functionId: string, key: string) {
    const id = laneIdOf(ENV, order, key);
    const eventId = newId();
    const options = { windowMs: 0, functions: [{ id: functionId, onStale: 'run' as const }] };
    const event = { key: id, eventId, values: laneValues(undefined, functionId, key), repeated: false };
    await store.lanes.add(ENV, order, options, [event], Date.now());
    return { turn: { id, order, number: 0 }, options, entry: { eventId, functionId } };
  }

  it('are found without waiting events, in orders of functions, of webhooks, and of functions that share one', async () => {
    const orders = ['app-f', WEBHOOK_ORDER, '=n/app/both'];
    for (const order of orders) {
      for (const [n, key] of ['a', 'b'].entries()) {
        const { turn, options, entry } = await begin(order, 'app-f', key);
        if (n === 0) await store.lanes.change(ENV, turn, options, 'park', entry);
      }
    }
    const stopped = await functionLanes().stopped(ENV, { orders: 10, lanes: 10 });
    expect(stopped.map(({ order }) => order)).to.have.members(orders);
    for (const { key, current } of stopped) expect([key, current?.functionId]).to.deep.equal(['a', 'app-f']);
    expect(await functionLanes().stopped(ENV, { orders: 2, lanes: 10 })).to.have.length(2);
  });

  it('are no longer found when a person lets them go on', async () => {
    const { turn, options, entry } = await begin(WEBHOOK_ORDER, 'app-f', 'a');
    await store.lanes.change(ENV, turn, options, 'block', entry);
    expect(await store.lanes.count(ENV)).to.deep.equal({ waiting: 0, stopped: 1 });
    await store.lanes.change(ENV, turn, options, 'skip');
    expect(await store.lanes.count(ENV)).to.deep.equal({ waiting: 0, stopped: 0 });
    expect(await functionLanes().stopped(ENV, { orders: 10, lanes: 10 })).to.deep.equal([]);
  });
});
