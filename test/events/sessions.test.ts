import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';

describe('Sessions of events', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService();
    host = await startAppHost();
    const functions = ['f', 'invokes', 'invoked'].map((id) => ({ id, triggers: [{ event: `sessions/${id}` }] }));
    await host.register(service, functions, { appName: 'sessions' });
  });
  after(async () => {
    await service.stop();
    await host.close();
  });

  /** The event of a run, as its function gets it. */
  async function received(meta: unknown, fn = 'f') {
    const [id] = (await service.post('/e/key', { name: `sessions/${fn}`, data: {}, meta })).body.ids;
    await service.waitFor(`/v1/events/${id}/runs`, ({ body }) => body.data[0]?.ended_at);
    return { id, call: host.calls(fn).at(-1)?.body };
  }

  const cases: [title: string, meta: unknown, sessions: object | undefined][] = [
    ['reach the function, as text', { sessions: { org: 'acme', user: 7 } }, { org: 'acme', user: '7' }],
    ['are those passed on', { propagated_sessions: { org: 'acme' } }, { org: 'acme' }],
    [
      'override those passed on',
      { sessions: { org: 'b' }, propagated_sessions: { org: 'a', team: 'c' } },
      { org: 'b', team: 'c' },
    ],
    ['remove one passed on', { sessions: { org: null }, propagated_sessions: { org: 'a', team: 'c' } }, { team: 'c' }],
    ['remove all passed on', { sessions: null, propagated_sessions: { org: 'a' } }, undefined],
    ['may be absent', {}, undefined],
    ['leave other meanings of the field alone', 'anything', undefined],
  ];
  for (const [title, meta, sessions] of cases) {
    it(title, async () => {
      const { id, call } = await received(meta);
      expect(call.event.meta).to.deep.equal(sessions && { sessions });
      expect(call.events[0].meta).to.deep.equal(sessions && { sessions });
      expect((await service.get(`/v1/events/${id}`)).body.data.meta).to.deep.equal(sessions && { sessions });
    });
  }

  it('pass to the run that a step invokes', async () => {
    host.on('invokes', ({ body }) => {
      const payload = { data: {}, meta: { propagated_sessions: body.event.meta.sessions, sessions: { extra: 'x' } } };
      const op = {
        id: 'a'.repeat(40),
        op: 'InvokeFunction',
        name: 'a',
        opts: { function_id: 'sessions-invoked', payload },
      };
      return Object.keys(body.steps).length > 0 ? {} : { status: 206, body: [op] };
    });
    await received({ sessions: { org: 'acme' } }, 'invokes');
    expect(host.calls('invoked')[0]?.body.event.meta).to.deep.equal({ sessions: { org: 'acme', extra: 'x' } });
  });

  it('are limited in number and length', async () => {
    for (const sessions of [
      Object.fromEntries(Array.from({ length: 6 }, (_, n) => [n, 'x'])),
      { '': 'x' },
      { org: '' },
      { org: 'x'.repeat(257) },
      { org: {} },
      [],
    ]) {
      const { status, body } = await service.post('/e/key', { name: 'sessions/f', data: {}, meta: { sessions } });
      expect([status, body.code, body.field], JSON.stringify(sessions)).to.deep.equal([400, 'event_invalid', 'meta']);
    }
  });
});
