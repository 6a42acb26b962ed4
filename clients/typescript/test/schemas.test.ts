import { expect } from 'chai';
import { InvalidEventError, NonRetriableError, type StandardSchema, Tidegate } from 'tidegate';
import { z } from 'zod';
import { rejection, useCleanEnv, useServers } from './servers.ts';

/** A handwritten asynchronous schema. */
const sku: StandardSchema<{ sku: string }> = {
  '~standard': {
    version: 1,
    vendor: 'by hand',
    validate: async (value) =>
      typeof (value as { sku?: unknown }).sku === 'string'
        ? { value: value as { sku: string } }
        : { issues: [{ message: 'not a SKU', path: [{ key: 'sku' }] }] },
  },
};

const schemas = {
  'order/paid': z.object({
    total: z.number(),
    currency: z.string().default('EUR'),
    lines: z.array(z.object({ n: z.int() })).optional(),
  }),
  'stock/changed': sku,
};

describe('Events with schemas', () => {
  useCleanEnv();
  const { startService } = useServers();

  const clientOf = (baseUrl: string) => new Tidegate({ id: 'shop', isDev: true, baseUrl, schemas });

  it('are sent with the output of the schema', async () => {
    const service = await startService();
    const client = clientOf(service.url);
    await client.send([
      { name: 'order/paid', data: { total: 3 }, id: 'paid-7' },
      { name: 'stock/changed', data: { sku: 'tea' } },
    ]);
    expect(JSON.parse(service.requests[0]?.body ?? '')).to.deep.equal([
      { name: 'order/paid', data: { total: 3, currency: 'EUR' }, id: 'paid-7' },
      { name: 'stock/changed', data: { sku: 'tea' } },
    ]);
  });

  it('are not sent if any event does not match its schema', async () => {
    const service = await startService();
    const client = clientOf(service.url);
    const bad = { name: 'order/paid', data: { total: '3', lines: [{ n: 1 }, { n: 1.5 }] } } as never;
    const error = await rejection(client.send([{ name: 'stock/changed', data: { sku: 'tea' } }, bad]));
    expect(error).to.be.instanceOf(InvalidEventError).and.instanceOf(NonRetriableError);
    expect(error.message).to.match(/^Event 1 \("order\/paid"\) .*data\.total: .*; data\.lines\.1\.n: /);
    expect(error).to.have.property('eventName', 'order/paid');
    expect(error.issues).to.deep.include.members([
      { path: ['lines', 1, 'n'], message: (error.issues as { message: string }[])[1]?.message },
    ]);
    expect(service.requests).to.have.length(0);
  });

  it('work with any schema library, including asynchronous ones', async () => {
    const client = clientOf('http://127.0.0.1:1');
    const error = await rejection(client.send({ name: 'stock/changed', data: {} as { sku: string } }));
    expect(error.message).to.include('data.sku: not a SKU');
  });

  it('must be declared: other names are rejected', async () => {
    const client = clientOf('http://127.0.0.1:1');
    const error = await rejection(client.send({ name: 'order/payed', data: {} } as never));
    expect(error.message).to.include('no schema for "order/payed"').and.include('order/paid, stock/changed');
  });
});
