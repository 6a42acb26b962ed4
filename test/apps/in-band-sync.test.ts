import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import { Tidegate } from 'tidegate';
import { serve } from 'tidegate/node';
import { sign } from '../../src/functions/signing.ts';
import { type Service, startService } from '../support/service.ts';

const MINUTE_MS = 60_000;

interface AppResponse {
  /** Fields of the registration, beside or instead of the usual ones. */
  fields?: object;
  /** Signed, and then sent with what follows. */
  sent?: (signed: string) => string;
  key?: string;
  signedAt?: number;
  headers?: Record<string, string>;
  /** Before it responds. */
  meanwhile?: () => Promise<unknown>;
}

describe('Registration in the response to the service, in production', () => {
  let service: Service;
  let server: Server;
  let url: string;
  let appResponse: AppResponse;
  let request: { headers: IncomingHttpHeaders; body: string } | undefined;

  before(async () => {
    service = await startService({
      workers: 0,
      dev: false,
      env: { NEW_APPS: 'hold', APP_ORIGINS: 'https://*.apps.example.com' },
    });
    server = createServer(async (incoming, response) => {
      request = { headers: incoming.headers, body: (await buffer(incoming)).toString() };
      const {
        fields,
        sent = (text) => text,
        key = service.env.SIGNING_KEY ?? '',
        signedAt = Date.now(),
        headers,
        meanwhile,
      } = appResponse;
      await meanwhile?.();
      const text = JSON.stringify({ ...registration('in-band'), ...fields });
      response.writeHead(200, {
        'x-inngest-sdk': 'go:v0.16.0',
        'x-inngest-sync-kind': 'in_band',
        'x-inngest-signature': sign(text, key, signedAt),
        ...headers,
      });
      response.end(sent(text));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`;
  });
  after(async () => {
    server.closeAllConnections();
    server.close();
    await service.stop();
  });

  const functionOf = (id: string, rest: object = { triggers: [{ event: 'in-band/x' }] }) => ({
    id,
    ...rest,
    steps: { step: { id: 'step', runtime: { type: 'http', url: `${url}?fnId=${id}&stepId=step` } } },
  });
  const registration = (app: string) => ({
    app_id: app,
    env: null,
    framework: null,
    functions: [functionOf(`${app}-f`)],
    sdk_language: 'go',
    sdk_version: 'v0.16.0',
    url,
  });
  async function registers(given: AppResponse, headers: Record<string, string> = {}) {
    appResponse = given;
    request = undefined;
    return service.post('/v1/apps', { url }, { ...service.apiHeaders, ...headers });
  }
  const read = (app: string, headers = {}) => service.get(`/v1/apps/${app}`, { ...service.apiHeaders, ...headers });

  it('the service sends a signed request in both dialects, and registers the functions of the response', async () => {
    const { status, body } = await registers({});
    const functions = [{ id: 'in-band-f', problems: [] }];
    expect([status, body.data]).to.deep.equal([200, { url, functions, unsupported: [], unsupported_count: 0 }]);
    expect(request?.body).to.equal(JSON.stringify({ url }));
    for (const prefix of ['x-service-', 'x-inngest-']) {
      const { [`${prefix}sync-kind`]: kind, [`${prefix}signature`]: signature = '' } = request?.headers ?? {};
      const seconds = Number(/^t=(\d+)/.exec(String(signature))?.[1]);
      expect([kind, signature]).to.deep.equal([
        'in_band',
        sign(request?.body ?? '', service.env.SIGNING_KEY ?? '', seconds * 1_000),
      ]);
    }
    const { data } = (await read('in-band')).body;
    expect(data).to.include({ url, sdk: 'go:v0.16.0', dialect: 'inngest', function_count: 1 });
    expect(data.last_sync).to.include({ succeeded: true });
  });

  it('the response of the API lists the fields that the service does not act on', async () => {
    const functions = [functionOf('in-band-f', { triggers: [{ event: 'in-band/x' }], region: 'eu' })];
    const { status, body } = await registers({ fields: { functions } });
    expect([status, body.data.unsupported_count]).to.deep.equal([200, 1]);
    expect(body.data.unsupported[0]).to.include({ function: 'in-band-f', field: 'region' });
    expect((await read('in-band')).body.data.unsupported).to.deep.equal(body.data.unsupported);
  });

  it('the response of the app may end in a line feed that is not signed', async () => {
    expect((await registers({ sent: (text) => `${text}\n` })).status).to.equal(200);
  });

  it('the response of the API lists problems and refused functions', async () => {
    const failing = functionOf('telling-f', { triggers: [{ event: 'in-band/x', expression: 'event.data.' }] });
    const told = await registers({ fields: { app_id: 'telling', functions: [failing] } });
    const [{ id, problems }] = told.body.data.functions;
    expect([told.status, id, problems.length]).to.deep.equal([200, 'telling-f', 1]);
    expect(problems[0]).to.include('triggers[0] never fires');

    const bad = functionOf('telling-g', { triggers: [{ cron: 'every day' }] });
    const { status, body } = await registers({ fields: { app_id: 'telling', functions: [failing, bad] } });
    expect([status, body.code, body.registered]).to.deep.equal([400, 'registration_invalid', 1]);
    const app = (await read('telling')).body.data;
    expect(app.refused_functions.map(({ id }: { id: string }) => id)).to.deep.equal(['telling-g']);
    expect(app.last_sync).to.include({ succeeded: false, error: body.error });
  });

  it('a response that is not signed with the key registers nothing', async () => {
    const forged: Record<string, AppResponse> = {
      'of another key': { key: 'signkey-test-ffffffffffffffffffffffffffffffff' },
      'of another text': { sent: (text) => text.replaceAll('hostile', 'hostilf') },
      'of an hour ago': { signedAt: Date.now() - 60 * MINUTE_MS },
      'of the future': { signedAt: Date.now() + 60 * MINUTE_MS },
      'that is none': { headers: { 'x-inngest-signature': 't=1&s=0' } },
      'with more text': { sent: (text) => `${text}\n\n` },
    };
    for (const [title, given] of Object.entries(forged)) {
      const fields = { app_id: 'hostile', functions: [functionOf('hostile-f')] };
      const { status, body } = await registers({ fields, ...given });
      expect([status, body.code], title).to.deep.equal([400, 'app_unreachable']);
      expect(body.error, title).to.include('not signed');
    }
    for (const app of ['hostile', 'hostilf']) expect((await read(app)).status).to.equal(404);
  });

  it('a response that is too large, or is not a registration, registers nothing', async () => {
    const large = await registers({ fields: { app_id: 'large', filler: 'x'.repeat(2 * 1_048_576) } });
    expect([large.status, large.body.code]).to.deep.equal([400, 'app_unreachable']);
    expect(large.body.error).to.include('larger than');
    const none = await registers({ fields: { app_id: 7 } });
    expect([none.status, none.body.error]).to.satisfy(
      ([status, error]: [number, string]) => status === 400 && error.includes('not a registration'),
    );
    const incomplete = await registers({ fields: { app_id: 'incomplete', functions: null } });
    expect([incomplete.status, incomplete.body.code]).to.deep.equal([400, 'registration_invalid']);
    for (const app of ['large', 'incomplete']) expect((await read(app)).status).to.equal(404);
  });

  it('the functions of another app stay with that app', async () => {
    await registers({});
    const { status, body } = await registers({ fields: { app_id: 'thief', functions: [functionOf('in-band-f')] } });
    expect([status, body.code]).to.deep.equal([400, 'registration_invalid']);
    expect(body.error).to.include('belongs to the app "in-band"');
    expect((await service.get('/v1/functions/in-band-f', service.apiHeaders)).body.data.app).to.equal('in-band');
  });

  it('an app that does not respond in-band registers by a request of its own', async () => {
    const { url: baseUrl, env } = service;
    const keys = { eventKey: env.EVENT_KEYS ?? '', signingKey: env.SIGNING_KEY ?? '' };
    const client = new Tidegate({ id: 'own', isDev: false, baseUrl, ...keys });
    const fn = client.createFunction({ id: 'f', triggers: { event: 'own/x' } }, () => 1);
    const own = createServer((incoming, response) => handler(incoming, response)).listen(0, '127.0.0.1');
    await once(own, 'listening');
    const origin = `http://127.0.0.1:${(own.address() as AddressInfo).port}`;
    const handler = serve({ client, functions: [fn], serveOrigin: origin });
    try {
      const at = `${origin}/api/service`;
      const { status, body } = await service.post('/v1/apps', { url: at }, service.apiHeaders);
      expect([status, body.data], JSON.stringify(body)).to.deep.equal([
        200,
        { url: at, functions: [{ id: 'own-f', problems: [] }], unsupported: [], unsupported_count: 0 },
      ]);
      expect((await read('own')).body.data).to.include({ function_count: 1, dialect: 'service' });
    } finally {
      own.closeAllConnections();
      own.close();
    }
  });

  it('an app registers only in the environment that it selects', async () => {
    await service.post('/v1/environments', { name: 'feature-1', kind: 'branch' }, service.apiHeaders);
    const pair = await service.get('/v1/environments/feature-1/signing-key', service.apiHeaders);
    const { current: key } = pair.body.data;
    const branch = { 'x-service-env': 'feature-1' };
    const fields = { app_id: 'branched', functions: [functionOf('branched-f')] };
    const there = await registers({ fields: { ...fields, env: 'feature-1' }, key }, branch);
    expect(there.status, JSON.stringify(there.body)).to.equal(200);
    for (const env of [null, 'feature-2']) {
      const { status, body } = await registers({ fields: { ...fields, env }, key }, branch);
      expect([status, body.code], JSON.stringify(body)).to.deep.equal([400, 'registration_invalid']);
      expect(body.error).to.include('selects the environment');
    }
    expect((await registers({ fields: { ...fields, env: 'feature-1' } })).body.code).to.equal('registration_invalid');
    expect((await read('branched', branch)).body.data.function_count).to.equal(1);
    expect((await read('branched')).status).to.equal(404);
  });

  describe('a registration that an app sends from another origin', () => {
    const headers = () => service.appHeaders;
    const at = (app: string, appUrl: string, fnUrl = appUrl) => {
      const runtime = { type: 'http', url: `${fnUrl}?fnId=${app}-f&stepId=step` };
      const fn = { id: `${app}-f`, triggers: [{ event: 'held/x' }], steps: { step: { id: 'step', runtime } } };
      return service.post('/fn/register', { url: appUrl, appName: app, functions: [fn] }, headers());
    };
    const held = async () => (await service.get('/v1/held-registrations')).body.data;
    const act = (method: string, path: string, body?: object) =>
      service.request(method, `/v1/held-registrations/${path}`, body, service.apiHeaders);
    const allow = (app: string, origins: string[]) =>
      service.request('PUT', `/v1/allowed-origins/${app}`, { origins }, service.apiHeaders);
    const present = async (app: string) => {
      const { url: appUrl, functions, last_sync, held_registrations, allowed_origins } = (await read(app)).body.data;
      return { appUrl, fnUrl: functions[0].url, succeeded: last_sync.succeeded, held_registrations, allowed_origins };
    };
    afterEach(async () => {
      for (const { id } of await held()) expect((await act('DELETE', id)).status).to.equal(204);
    });

    it('is held, and the app stays where it was', async () => {
      await registers({ fields: { app_id: 'moving', functions: [functionOf('moving-f')] } });
      const before = await present('moving');
      expect(before).to.include({ appUrl: url, succeeded: true, held_registrations: 0 });
      for (let n = 0; n < 2; n++) {
        const { status, body } = await at('moving', 'http://attacker.example/api');
        expect([status, body.code]).to.deep.equal([409, 'registration_held']);
        expect(body.error).to.include('http://attacker.example').and.include(`tidegate apps confirm ${body.held}`);
      }
      expect((await at('moving', url, 'http://attacker.example/api')).status).to.equal(409);
      expect((await at('moving', url.replace('http:', 'https:'))).status).to.equal(409);
      expect(await present('moving')).to.deep.equal({ ...before, held_registrations: 3 });
      // Each names the URL that is asked when it is confirmed, whatever else came with the same origin.
      const [, ofFunction, one] = await held();
      expect(ofFunction).to.deep.include({ origins: ['http://attacker.example'], url, refused: null });
      expect(one.url).to.equal('http://attacker.example/api');
      expect(one).to.include({ app: 'moving', present_url: url, function_count: 1 });
      expect(one.origins).to.deep.equal(['http://attacker.example']);
      expect((await service.get('/v1/status')).body.data.held_registrations).to.equal(3);
      expect((await at('moving', url.replace('/api', '/other'))).status).to.equal(200);
      await service.logs('"msg":"registration held"', '"origins":["http://attacker.example"]');
    });

    it('takes effect once somebody confirms it; the same origin then needs no further confirmation', async () => {
      const elsewhere = url.replace('127.0.0.1', 'localhost');
      const { body } = await at('moving', elsewhere);
      appResponse = { fields: { app_id: 'moving', functions: [functionOf('moving-f')], url: elsewhere } };
      const confirm = (given: object) => act('POST', `${body.held}/confirm`, given);
      expect((await confirm({ allow: ['https://*.com'] })).body.code).to.equal('input_invalid');
      const right = appResponse;
      appResponse = { fields: { app_id: 'other', functions: [], url: elsewhere } };
      const wrong = await confirm({ allow: ['http://a-*-b.example.app'] });
      expect([wrong.status, wrong.body.code]).to.deep.equal([400, 'registration_invalid']);
      expect(wrong.body.error).to.include('"other", not "moving"');
      expect((await read('other')).status, 'nor is the other app registered').to.equal(404);
      expect((await present('moving')).allowed_origins).to.deep.equal([new URL(url).origin]);
      appResponse = right;
      const { status, body: confirmed } = await confirm({ allow: ['http://a-*-b.example.app'] });
      expect([status, confirmed.data?.url]).to.deep.equal([200, elsewhere]);
      expect(await present('moving')).to.deep.include({
        appUrl: elsewhere,
        held_registrations: 0,
        allowed_origins: [new URL(url).origin, 'http://a-*-b.example.app', new URL(elsewhere).origin],
      });
      for (const allowed of [elsewhere, 'http://a-1-b.example.app', url]) {
        expect((await at('moving', allowed)).status, allowed).to.equal(200);
      }
      expect((await confirm({})).status).to.equal(404);
      const { data } = (await service.get('/v1/audit')).body;
      const entry = data.find(({ action }: { action: string }) => action === 'POST /v1/held-registrations/:id/confirm');
      expect(entry).to.include({ target: body.held, environment: 'production' });
      expect(entry.summary).to.include('http://a-*-b.example.app');
    });

    it('is also held for a new app if NEW_APPS is hold, unless its origin is allowed', async () => {
      expect((await at('newcomer', 'https://new.example.com/api')).body.code).to.equal('registration_held');
      expect((await read('newcomer')).status).to.equal(404);
      expect((await held())[0]).to.include({ app: 'newcomer', present_url: null, proposed_pattern: null });
      await allow('newcomer', ['https://new.example.com']);
      expect((await at('newcomer', 'https://new.example.com/api')).status).to.equal(200);
      expect(await held()).to.deep.equal([]);
      expect((await at('another', 'https://pr-7.apps.example.com/api')).status).to.equal(200);
      expect((await service.request('DELETE', '/v1/apps/newcomer', undefined, service.apiHeaders)).status).to.equal(
        204,
      );
      const { data } = (await service.get('/v1/allowed-origins')).body;
      expect(data.map(({ app }: { app: string }) => app)).not.to.include('newcomer');
    });

    it('gets a proposed pattern if each deployment has its own host', async () => {
      await allow('deployed', ['https://shop-1-acme.example.app']);
      expect((await at('deployed', 'https://shop-1-acme.example.app/api')).status).to.equal(200);
      for (let n = 2; n < 9; n++) await at('deployed', `https://shop-${n}-acme.example.app/api`);
      const waiting = await held();
      expect(waiting.map(({ origins }: { origins: string[] }) => origins)).to.deep.equal(
        [8, 7, 6, 5, 4, 3, 2].map((n) => [`https://shop-${n}-acme.example.app`]),
      );
      expect(waiting[0].proposed_pattern).to.equal('https://shop-*-acme.example.app');
    });

    it('is not displaced by a flood of later ones, which are rejected, counted and told how to be allowed', async () => {
      await allow('flooded', ['https://old.example.com']);
      expect((await at('flooded', 'https://old.example.com/api')).status).to.equal(200);
      const genuine = await at('flooded', 'https://new.example.com/api');
      const responses = [];
      for (let n = 0; n < 24; n++) responses.push(await at('flooded', `https://forged-${n}.example/api`));
      expect(responses.map(({ status }) => status)).to.deep.equal(Array(24).fill(409));
      const waiting: { id: string; refused: { count: number; last_url: string } }[] = await held();
      expect(waiting).to.have.length(20);
      expect(waiting.map(({ id }) => id)).to.include(genuine.body.held);
      for (const { refused } of waiting) {
        expect(refused).to.include({ count: 5, last_url: 'https://forged-23.example/api' });
      }
      const { body } = await at('flooded', 'https://late.example.com/api');
      expect(body).not.to.have.property('held');
      expect(body.error).to.include('"tidegate apps allow flooded https://late.example.com"');
      // What a host may contain runs nothing where the command is pasted.
      const hostile = await at('flooded', "https://$(id)'.example.com/api");
      expect(hostile.body.error).to.include("flooded 'https://$(id)'\\''.example.com'");
      await allow('flooded', ['https://late.example.com']);
      expect((await at('flooded', 'https://late.example.com/api')).status).to.equal(200);
    });

    it('is also held if the app names that origin in its response; the origin that was asked is allowed', async () => {
      await registers({ fields: { app_id: 'answering', functions: [functionOf('answering-f')] } });
      const before = await present('answering');
      const forged = 'http://attacker.example/api';
      const stepThere = {
        step: { id: 'step', runtime: { type: 'http', url: `${forged}?fnId=answering-f&stepId=step` } },
      };
      const elsewhere: object[] = [
        { url: forged },
        { functions: [{ ...functionOf('answering-f'), steps: stepThere }] },
      ];
      for (const fields of elsewhere) {
        const own = { app_id: 'answering', functions: [functionOf('answering-f')] };
        const { status, body } = await registers({ fields: { ...own, ...fields } });
        expect([status, body.code], JSON.stringify(body)).to.deep.equal([409, 'registration_held']);
        expect(body.error).to.include('nobody has allowed http://attacker.example.');
      }
      expect(await present('answering')).to.deep.equal({ ...before, held_registrations: 2 });
    });

    it('keeps the query that a person gave, whatever the request to the app had, and no user name', async () => {
      await registers({ fields: { app_id: 'queried', functions: [functionOf('queried-f')] } });
      const stored = async () => {
        const functions = await service.redis.hget(`${service.prefix}:functions:production`, 'queried-f');
        return { appUrl: (await present('queried')).appUrl, fnUrl: JSON.parse(functions ?? '{}').url };
      };
      const before = { appUrl: url, fnUrl: `${url}?fnId=queried-f&stepId=step` };
      const forged = url.replace('//', '//user:pass@');
      // With this query the official TypeScript SDK responds to calls without running anything.
      const withQuery = (query: string) =>
        service.post(
          '/fn/register',
          {
            url: `${forged}?${query}`,
            appName: 'queried',
            functions: [
              {
                ...functionOf('queried-f'),
                steps: {
                  step: { id: 'step', runtime: { type: 'http', url: `${forged}?${query}&fnId=queried-f&stepId=step` } },
                },
              },
            ],
          },
          headers(),
        );
      expect((await withQuery('probe=trust&fnId=x')).status).to.equal(200);
      expect(await stored()).to.deep.equal(before);
      const asked = `${url}?bypass=secret`;
      appResponse = { fields: { app_id: 'queried', url: asked, functions: [functionOf('queried-f')] } };
      expect((await service.post('/v1/apps', { url: asked }, service.apiHeaders)).status).to.equal(200);
      expect((await stored()).appUrl).to.equal(asked);
      expect((await withQuery('probe=trust')).status).to.equal(200);
      expect(await stored()).to.deep.equal({
        appUrl: asked,
        fnUrl: `${url}?fnId=queried-f&stepId=step&bypass=secret`,
      });
    });

    it('is confirmed with all its origins at once, including those of its functions', async () => {
      const own = () => ({ app_id: 'spread', functions: [functionOf('spread-f')] });
      await registers({ fields: own() });
      const ports = ['http://one.example', 'http://two.example'];
      const functions = ports.map((origin, n) => ({
        ...functionOf(`spread-${n}`),
        steps: { step: { id: 'step', runtime: { type: 'http', url: `${origin}/api?fnId=spread-${n}&stepId=step` } } },
      }));
      const { body } = await registers({ fields: { ...own(), functions } });
      const [one] = await held();
      expect(one).to.deep.include({ id: body.held, url, origins: ports });
      const third = { ...functions[0], steps: functionOf('spread-0').steps };
      third.steps.step.runtime.url = 'http://three.example/api?fnId=spread-0&stepId=step';
      appResponse = { fields: { ...own(), functions: [...functions.slice(1), third] } };
      const changed = await act('POST', `${body.held}/confirm`, {});
      expect([changed.status, changed.body.code], 'another than was shown').to.deep.equal([409, 'registration_held']);
      expect((await present('spread')).allowed_origins).to.deep.equal([new URL(url).origin]);
      appResponse = { fields: { ...own(), functions } };
      const confirmed = await act('POST', `${body.held}/confirm`, {});
      expect(confirmed.status, JSON.stringify(confirmed.body)).to.equal(200);
      expect((await present('spread')).allowed_origins).to.deep.equal([new URL(url).origin, ...ports]);
    });

    it('takes effect when somebody has the app register there meanwhile, even by a request of its own', async () => {
      await registers({ fields: { app_id: 'asked', functions: [functionOf('asked-f')] } });
      const elsewhere = url.replace('127.0.0.1', 'localhost');
      expect((await at('asked', elsewhere)).status).to.equal(409);
      appResponse = {
        fields: { app_id: 'asked' },
        headers: { 'x-inngest-sync-kind': 'out_of_band' },
        meanwhile: () => at('asked', elsewhere),
      };
      const { status } = await service.post('/v1/apps', { url: elsewhere }, service.apiHeaders);
      expect([status, (await present('asked')).appUrl]).to.deep.equal([200, elsewhere]);
    });
  });
});
