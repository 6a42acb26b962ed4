import { expect } from 'chai';
import { runChaos } from './run-chaos.ts';

describe('scripts/chaos --short --only outbox,transaction', () => {
  it('finds one event, run and booking for each order of an app that dies between its transactions and the service', async function () {
    this.timeout(600_000);
    const { orders, events, runs, bookings } = (await runChaos(['--short', '--only', 'outbox,transaction'])).load;
    expect(orders).to.be.greaterThan(0);
    expect([events, runs, bookings]).to.deep.equal([orders, orders, orders]);
  });
});
