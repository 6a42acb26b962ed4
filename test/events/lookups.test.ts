import { expect } from 'chai';
import { ulid } from 'ulid';
import { type Service, startService } from '../support/service.ts';

interface Found {
  id: string;
  found: boolean;
}

describe('A look-up of events', () => {
  let service: Service;
  /** Stored. */
  let stored: string[];
  /** In an ingest job: nothing ingests. */
  let queued: string[];
  before(async () => {
    service = await startService({ dev: false, processes: true });
    stored = await send(3);
    for (const id of stored) await service.stored(id, service.apiHeaders);
    await service.killWorker();
    queued = await send(2, `${Date.UTC(2031, 0, 1)},AAAAAAAAAAAAAA==`);
  });
  after(() => service.stop());

  async function send(count: number, seed?: string): Promise<string[]> {
    const events = Array.from({ length: count }, (_, n) => ({ name: 'looked/up', data: { n } }));
    const { status, body } = await service.post(
      `/e/${service.env.EVENT_KEYS}`,
      events,
      seed ? { 'x-service-event-id-seed': seed } : {},
    );
    expect(status, JSON.stringify(body)).to.equal(200);
    return body.ids;
  }
  const lookUp = (ids: unknown, headers = service.apiHeaders) =>
    service.post('/v1/events/lookup', { ids }, headers) as Promise<{
      status: number;
      body: { data: Found[]; code?: string };
    }>;

  it('finds stored events, and events that wait to be ingested, whatever the time in their ID', async () => {
    const unknown = [ulid(), ulid(Date.UTC(2031, 0, 1)), ulid(0)];
    const ids = [unknown[0], ...stored, unknown[1], ...queued, unknown[2], stored[0]] as string[];
    const { status, body } = await lookUp(ids);
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(body.data).to.deep.equal(ids.map((id) => ({ id, found: !unknown.includes(id) })));
  });

  it('answers an app about its own environment', async () => {
    const { status, body } = await lookUp(stored, service.appHeaders);
    expect([status, body.data.every(({ found }) => found)]).to.deep.equal([200, true]);
    const other = await lookUp(stored, { ...service.appHeaders, 'x-service-env': 'other' });
    expect(other.status).to.equal(401);
  });

  it('takes up to 1,000 IDs', async () => {
    const { body } = await lookUp(Array.from({ length: 1_000 }, () => ulid()));
    expect(body.data.filter(({ found }) => found)).to.deep.equal([]);
    for (const ids of [Array.from({ length: 1_001 }, () => ulid()), [], ['x'.repeat(65)], [1], 'x', undefined]) {
      const refused = await lookUp(ids);
      expect([refused.status, refused.body.code], String(ids)).to.deep.equal([400, 'input_invalid']);
    }
  });

  it('does not find a text that is no ID, such as a text that leads to another key', async () => {
    const ids = ['', 'nope', `${stored[0]}:x`, String(stored[0]).toLowerCase(), '\0', '__proto__'];
    expect((await lookUp(ids)).body.data).to.deep.equal(ids.map((id) => ({ id, found: false })));
  });
});
