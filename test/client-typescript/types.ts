/** Not a test that runs: `tsc` checks it, and each @ts-expect-error line fails it unless the next line is an error. */
import { Tidegate } from 'tidegate';
import { serve as serveKoa } from 'tidegate/koa';
import { serve } from 'tidegate/node';

interface OrderPaid {
  orderId: string;
  total: number;
}

interface Events {
  'order/paid': { data: OrderPaid };
  'order/shipped': { data: { orderId: string; carrier: string } };
  'stock/changed': { data: { sku: string } };
}

/** Compiles only if both types are the same. */
function same<A, B>(_proof: [A] extends [B] ? ([B] extends [A] ? true : false) : false): void {}

const typed = new Tidegate<Events>({ id: 'shop' });
const loose = new Tidegate({ id: 'shop' });

export function sending() {
  typed.send({ name: 'order/paid', data: { orderId: '7', total: 3 } });
  typed.send({ name: 'order/paid', data: { orderId: '7', total: 3 }, id: 'paid-7', ts: 1, user: { id: 1 }, v: '1' });
  typed.send([
    { name: 'order/paid', data: { orderId: '7', total: 3 } },
    { name: 'stock/changed', data: { sku: 'tea' } },
  ]);
  typed.send([]);
  // @ts-expect-error: no such event
  typed.send({ name: 'order/payed', data: { orderId: '7', total: 3 } });
  // @ts-expect-error: total is a number
  typed.send({ name: 'order/paid', data: { orderId: '7', total: '3' } });
  // @ts-expect-error: total is missing
  typed.send({ name: 'order/paid', data: { orderId: '7' } });
  // @ts-expect-error: data is missing
  typed.send({ name: 'order/paid' });
  // @ts-expect-error: that is the data of another event
  typed.send([{ name: 'stock/changed', data: { orderId: '7', total: 3 } }]);
  // @ts-expect-error: ts is in milliseconds
  typed.send({ name: 'stock/changed', data: { sku: 'tea' }, ts: new Date() });

  loose.send({ name: 'anything', data: { at: { all: 1 } } });
  // @ts-expect-error: a name all the same
  loose.send({ data: {} });
  // @ts-expect-error: data is an object
  loose.send({ name: 'anything', data: 'text' });
}

export function handling() {
  typed.createFunction({ id: 'one', triggers: { event: 'order/paid', if: 'event.data.total > 10' } }, ({ event }) => {
    same<typeof event.name, 'order/paid'>(true);
    same<typeof event.data, OrderPaid>(true);
    same<typeof event.id, string>(true);
    same<typeof event.ts, number>(true);
    // @ts-expect-error: not in this event
    event.data.carrier;
  });

  const several = [{ event: 'order/paid' }, { event: 'order/shipped' }] as const;
  typed.createFunction({ id: 'several', triggers: several }, ({ event, events, runId, attempt }) => {
    same<typeof event.name, 'order/paid' | 'order/shipped'>(true);
    same<typeof events, (typeof event)[]>(true);
    same<typeof runId, string>(true);
    same<typeof attempt, number>(true);
    // @ts-expect-error: only in one of them
    event.data.total;
    if (event.name === 'order/paid') same<typeof event.data.total, number>(true);
    else same<typeof event.data.carrier, string>(true);
  });

  typed.createFunction(
    { id: 'inline', triggers: [{ event: 'order/paid' }, { event: 'stock/changed' }] },
    ({ event }) => {
      if (event.name === 'stock/changed') same<typeof event.data.sku, string>(true);
    },
  );

  typed.createFunction({ id: 'wild', triggers: { event: 'order/*' } }, ({ event }) => {
    same<typeof event.name, string>(true);
    event.data.whatever.there.is;
  });
  typed.createFunction({ id: 'dotted', triggers: { event: 'order/refund.*' } }, ({ event }) => event.data.anything);
  typed.createFunction({ id: 'cron', triggers: { cron: '0 * * * *' } }, ({ event }) => event.data.anything);

  loose.createFunction({ id: 'loose', triggers: { event: 'anything' } }, ({ event }) => event.data.goes.here);

  // @ts-expect-error: no such event
  typed.createFunction({ id: 'a', triggers: { event: 'order/payed' } }, () => {});
  // @ts-expect-error: no such event among several
  typed.createFunction({ id: 'a', triggers: [{ event: 'order/paid' }, { event: 'order/payed' }] }, () => {});
  // @ts-expect-error: neither an event nor a schedule
  typed.createFunction({ id: 'a', triggers: {} }, () => {});
  // @ts-expect-error: triggers are missing
  typed.createFunction({ id: 'a' }, () => {});
}

export function declaring() {
  // @ts-expect-error: an event has data
  new Tidegate<{ 'order/paid': { total: number } }>({ id: 'shop' });
  // @ts-expect-error: data is an object
  new Tidegate<{ 'order/paid': { data: string } }>({ id: 'shop' });
  // @ts-expect-error: the app has a name
  new Tidegate({ eventKey: 'k' });
  new Tidegate({ id: 'shop', eventKey: process.env.KEY, env: undefined });
}

export function serving() {
  const fn = typed.createFunction({ id: 'one', triggers: { event: 'order/paid' } }, () => {});
  serve({ client: typed, functions: [fn], serveOrigin: process.env.ORIGIN });
  serveKoa({ client: loose, functions: [fn], path: '/api/service' });
  // @ts-expect-error: functions are missing
  serve({ client: typed });
}
