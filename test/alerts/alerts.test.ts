import { expect } from 'chai';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { startAppHost } from '../support/app-host.ts';
import { MailServer } from '../support/mail-server.ts';
import { type Received, Receiver } from '../support/receiver.ts';
import { type Service, startService } from '../support/service.ts';

// biome-ignore lint/suspicious/noExplicitAny: responses of the API
type Json = any;

const PUBLIC_URL = 'https://events.example.com';
const json = (received: Received | undefined): Json => JSON.parse(received?.body.toString() ?? 'null');

describe('Alerts', () => {
  let service: Service;
  let receiver: Receiver;
  let mail: MailServer;
  before(async () => {
    [receiver, mail] = await Promise.all([Receiver.start(), MailServer.start()]);
    const env = { SMTP_URL: mail.url, ALERT_FROM: 'alerts@example.com', PUBLIC_URL };
    service = await startService({ dev: false, env, webs: 2, workers: 2 });
  });
  after(async () => {
    await service.stop();
    await Promise.all([receiver.stop(), mail.stop()]);
  });

  const api = (method: string, path: string, body?: object): Promise<Json> =>
    service.request(method, path, body, service.apiHeaders);

  const KINDS: Record<string, object> = {
    email: { to: ['ops@example.com', 'night@example.com'] },
    slack: {},
    discord: {},
    teams: {},
    pagerduty: { key: 'routing-key' },
    opsgenie: { key: 'api-key' },
    webhook: {},
  };

  const secrets: Record<string, string> = {};

  it('are told by every kind of channel, once each, with what, since when, how many, and a link', async () => {
    for (const [kind, fields] of Object.entries(KINDS)) {
      const url = kind === 'email' ? {} : { url: receiver.url(`/${kind}`) };
      const { status, body } = await api('POST', '/v1/alert-channels', { name: `on-${kind}`, kind, ...url, ...fields });
      expect(status, JSON.stringify(body)).to.equal(201);
      secrets[kind] = body.data.secret;
    }
    const destination = { name: 'on-alert', url: receiver.url('/event'), events: ['tidegate/alert.*'] };
    expect((await api('POST', '/v1/destinations', destination)).status).to.equal(201);
    await holdAnEvent();
    const posted = ['slack', 'discord', 'teams', 'pagerduty', 'opsgenie', 'webhook'];
    const received: Json[] = await Promise.all([...posted.map((kind) => receiver.got(`/${kind}`)), mail.got(1)]);
    const [slack, discord, teams, pagerduty, opsgenie, signed, letter] = received.map(([first]) => first);
    const link = `${PUBLIC_URL}/held-events?env=production`;
    const text = /Held events: 1 wait for an environment; since \d{4}-\d\d-\d\d \d\d:\d\d UTC/;
    expect(json(slack).text).to.match(text).and.to.include(`<${link}|`);
    expect(json(discord).content)
      .to.include(`](<${link}>)`)
      .and.to.match(/Held events: 1 wait/);
    expect(json(teams).attachments[0].content.body[0].text).to.include(`](${link})`);
    expect(json(pagerduty)).to.deep.include({
      routing_key: 'routing-key',
      event_action: 'trigger',
      dedup_key: 'tidegate/production/held_events',
    });
    expect(json(pagerduty).links).to.deep.equal([{ href: link, text: 'Tidegate' }]);
    expect(opsgenie.headers.authorization).to.equal('GenieKey api-key');
    expect(json(opsgenie)).to.deep.include({ alias: 'tidegate/production/held_events', details: { page: link } });
    new StandardWebhook(secrets.webhook ?? '').verify(signed.body.toString(), signed.headers);
    expect(json(signed).data.changes[0]).to.deep.include({ change: 'opened' });
    expect(letter.to).to.deep.equal(['ops@example.com', 'night@example.com']);
    expect(letter.text)
      .to.match(/Subject: Opened in production: Held events/)
      .and.to.match(/Message-ID: <[0-9A-Z]{26}@example.com>/i);
    const { body } = await api('GET', '/v1/alerts?state=open');
    expect(body.data).to.have.length(1);
    expect(body.data[0]).to.deep.include({ rule: 'held_events', state: 'open', value: 1, path: '/held-events' });
    for (const kind of posted) expect(receiver.at(`/${kind}`), kind).to.have.length(1);
    expect(mail.mails).to.have.length(1);
  });

  it('are events, where something listens', async () => {
    const [event] = await receiver.got('/event');
    expect(json(event)).to.deep.include({ name: 'tidegate/alert.opened' });
    expect(json(event).data).to.deep.include({ rule: 'held_events', environment: 'production', unit: 'events' });
  });

  for (const kind of Object.keys(KINDS)) {
    it(`send a test to a channel of the kind ${kind}, and say what its server responded`, async () => {
      const test = () => api('POST', `/v1/alert-channels/on-${kind}/test`);
      if (kind === 'email') mail.rejection = Object.assign(new Error('mailbox full'), { responseCode: 452 });
      else receiver.on(`/${kind}`, () => ({ status: 403, body: 'invalid_token' }));
      const expected =
        kind === 'email'
          ? { accepted: false, status: null }
          : { accepted: false, status: 403, answer: 'invalid_token' };
      expect((await test()).body.data).to.deep.include(expected);
      mail.rejection = undefined;
      receiver.on(`/${kind}`, () => ({ status: 202, body: 'thanks' }));
      const { data } = (await test()).body;
      expect(data.accepted).to.equal(true);
      // Opsgenie closes at another path.
      expect(data.status).to.equal(kind === 'email' ? null : kind === 'opsgenie' ? 200 : 202);
    });
  }

  it('never show the secrets of channels, and keep them encrypted', async () => {
    const { body } = await api('GET', '/v1/alert-channels');
    const stored = JSON.stringify(await service.redis.hgetall(service.keys.alertChannels('production')));
    for (const secret of ['routing-key', 'api-key', '/slack', secrets.webhook ?? 'none']) {
      expect(JSON.stringify(body)).not.to.include(secret);
      expect(stored).not.to.include(secret);
    }
    expect(body.data.find(({ name }: Json) => name === 'on-slack').address).to.equal(new URL(receiver.url('')).host);
  });

  it('reject a channel that cannot work, and say why', async () => {
    const create = async (body: object) => {
      const response = await api('POST', '/v1/alert-channels', { name: 'bad', ...body });
      return [response.status, response.body.code, response.body.error].join(' ');
    };
    expect(await create({ kind: 'slack' })).to.match(/^400 input_invalid .*"url": required for the kind "slack"/);
    expect(await create({ kind: 'slack', url: 's3cret' }))
      .to.match(/an http or https URL/)
      .and.not.to.include('s3cret');
    expect(await create({ kind: 'pagerduty', key: 's3 cret' }))
      .to.match(/"key"/)
      .and.not.to.include('s3 cret');
    expect(await create({ kind: 'email', to: ['a@example.com'], key: 'k' })).to.match(/"key": the kind "email" has no/);
    expect(await create({ kind: 'email', to: ['nobody'] })).to.match(/^400 input_invalid/);
    const quiet = { from: '22:00', to: '07:00', time_zone: 'Mars/Olympus' };
    expect(await create({ kind: 'email', to: ['a@example.com'], quiet_hours: quiet })).to.match(/a time zone such as/);
    expect(await create({ name: 'on-slack', kind: 'slack', url: 'http://a.example' })).to.match(
      /^409 alert_channel_exists/,
    );
  });

  it('have rules that an environment changes, and sets back', async () => {
    const change = (body: object) => api('PATCH', '/v1/alert-rules/held_events', body);
    const { body } = await change({ threshold: 5, channels: ['on-slack'], window_seconds: 60 });
    expect(body.data).to.deep.include({
      threshold: 5,
      channels: ['on-slack'],
      window_seconds: 60,
      changed: ['threshold', 'window_seconds', 'channels'],
    });
    expect((await change({ channels: ['nobody'] })).status).to.equal(400);
    const back = await change({ threshold: null, channels: null, window_seconds: null });
    expect(back.body.data).to.deep.include({ threshold: 1, channels: null, changed: [] });
    expect((await api('PATCH', '/v1/alert-rules/unknown', {})).status).to.equal(404);
  });

  it('are heard by nobody else when a channel is deleted that their rule names alone', async () => {
    const rules = async () => {
      const { data } = (await api('GET', '/v1/alert-rules')).body;
      return Object.fromEntries(
        data.map(({ rule, channels }: { rule: string; channels: unknown }) => [rule, channels]),
      );
    };
    for (const name of ['first', 'second']) {
      await api('POST', '/v1/alert-channels', { name, kind: 'slack', url: 'https://example.com/hook' });
    }
    await api('PATCH', '/v1/alert-rules/held_events', { channels: ['first'] });
    await api('PATCH', '/v1/alert-rules/no_worker', { channels: ['first', 'second'] });
    const refused = await api('DELETE', '/v1/alert-channels/first');
    expect([refused.status, refused.body.code]).to.deep.equal([409, 'alert_channel_in_use']);
    expect(refused.body.error).to.include('held_events').and.not.include('no_worker');
    expect(await rules()).to.deep.include({ held_events: ['first'], no_worker: ['first', 'second'] });
    await api('PATCH', '/v1/alert-rules/held_events', { channels: [] });
    const both = await Promise.all(['first', 'second'].map((name) => api('DELETE', `/v1/alert-channels/${name}`)));
    expect(both.map(({ status }) => status)).to.include(409);
    expect((await rules()).no_worker).to.have.length(1);
    expect((await rules()).held_events).to.deep.equal([]);
    await api('PATCH', '/v1/alert-rules/no_worker', { channels: null });
    await api('PATCH', '/v1/alert-rules/held_events', { channels: null });
  });

  it('of an error that is assigned to channels are told by those, also when it is not new, and no others', async () => {
    const host = await startAppHost();
    host.on('charge', () => ({ status: 400, body: { name: 'Error', message: 'declined' } }));
    const retries = 0;
    await host.register(service, [{ id: 'charge', triggers: [{ event: 'shop/charge' }], retries }], {
      appName: 'shop',
    });
    const fail = () => service.post(service.eventPath, { name: 'shop/charge', data: {} });
    await api('PATCH', '/v1/alert-rules/new_error', { threshold: 2, channels: ['on-discord'] });
    await fail();
    const path = '/v1/errors?function_id=shop-charge';
    const { body } = await service.waitFor(path, (response: Json) => response.body.data?.length === 1);
    const { fingerprint } = body.data[0];
    const assigned = await api('PATCH', `/v1/errors/${fingerprint}`, { alert_channels: ['on-webhook'] });
    expect(assigned.body.data.alert_channels).to.deep.equal(['on-webhook']);
    const [before, ofRule] = [receiver.at('/webhook').length, receiver.at('/discord').length];
    await fail();
    const told = (await receiver.got('/webhook', before + 1)).at(-1);
    expect(json(told).data.changes[0].alert).to.deep.include({ rule: 'new_error', subject: fingerprint });
    expect(receiver.at('/discord')).to.have.length(ofRule);
    await api('PATCH', '/v1/alert-rules/new_error', { threshold: null, channels: null });
    await host.close();
  });

  it('of the installation belong to production', async () => {
    await api('POST', '/v1/environments', { name: 'staging' });
    const inStaging = { ...service.apiHeaders, 'x-service-env': 'staging' };
    const { body } = await service.get('/v1/alert-rules', inStaging);
    expect(body.data.map(({ scope }: Json) => scope)).not.to.include('installation');
    const { status } = await service.request('PATCH', '/v1/alert-rules/held_events', {}, inStaging);
    expect(status).to.equal(404);
  });

  async function holdAnEvent(): Promise<void> {
    const transform = 'function transform(evt) { return { name: "a/b", data: evt }; }';
    const { body } = await api('POST', '/v1/webhooks', { name: 'w', transform, environment: 'branches' });
    const { status } = await service.post(new URL(body.data.url).pathname, { a: 1 });
    expect(status).to.equal(200);
  }
});
