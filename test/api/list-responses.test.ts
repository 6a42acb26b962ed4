import { expect } from 'chai';
import { ulid } from 'ulid';
import { addUser, sessionHeaders } from '../support/auth.ts';
import { type OwnStore, openStore } from '../support/own-store.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const MAX_BYTES = 2 * 1_048_576;
const HOOK = 'const transform = (evt) => ({ data: {}, ...evt })';

interface Page {
  data: { [field: string]: unknown; omitted?: string[] }[];
  metadata: { cursor?: string };
}

describe('API responses', () => {
  let service: Service;
  let store: OwnStore;
  before(async () => {
    service = await startService({ dev: false, workers: 0 });
    store = await openStore(service.prefix);
  });
  after(async () => {
    await store.close();
    await service.stop();
  });

  /** A finished run with this output, as JSON. */
  async function run(functionId: string, output: string, env = 'production'): Promise<string> {
    const id = ulid();
    const made = { id, env, functionId, eventId: ulid(), requestId: ulid(), queuedAt: Date.now() };
    await store.runs.create([{ ...made, reconcileAt: Date.now() + 60_000 }]);
    await store.runs.end({ id, env, functionId }, { status: 'Completed', output }, Date.now());
    return id;
  }

  /** All pages of a list; checks the size of each. */
  async function pages(path: string): Promise<Page[]> {
    const all: Page[] = [];
    let cursor: string | undefined;
    do {
      const to = `${path}${path.includes('?') ? '&' : '?'}${cursor ? `cursor=${cursor}` : ''}`;
      const response = await fetch(service.url + to, { headers: service.apiHeaders });
      const text = await response.text();
      expect(response.status, text.slice(0, 500)).to.equal(200);
      expect(Buffer.byteLength(text), to).to.be.at.most(MAX_BYTES);
      const page = JSON.parse(text) as Page;
      all.push(page);
      cursor = page.metadata.cursor;
    } while (cursor !== undefined);
    return all;
  }

  const text = (bytes: number) => JSON.stringify('x'.repeat(bytes));
  const field = (all: Page[], name: string) => all.flatMap(({ data }) => data.map((item) => item[name]));

  describe('lists of runs', () => {
    it('GET /v1/runs omits outputs unless fields=output requests them', async () => {
      const id = await run('lists-plain', '{"n":1}');
      const [plain] = await pages('/v1/runs?function_id=lists-plain');
      expect(plain?.data[0]).to.include({ run_id: id, status: 'Completed' }).and.not.have.any.keys('output', 'omitted');
      const [full] = await pages('/v1/runs?function_id=lists-plain&fields=output');
      expect(full?.data[0]).to.deep.include({ run_id: id, output: { n: 1 } });
      const wrong = await service.get('/v1/runs?fields=outptu');
      expect([wrong.status, wrong.body.code, wrong.body.field]).to.deep.equal([400, 'input_invalid', 'fields']);
      expect(wrong.body.error).to.include('did you mean "output"?');
    });

    it('GET /v1/runs has the name, the code and the beginning of the message of an error unless fields=error requests all', async () => {
      const error = { name: 'Bad', message: 'm'.repeat(9_000), stack: 's'.repeat(60_000), data: { n: 1 }, code: 'E1' };
      const env = 'production';
      const made = { id: ulid(), env, functionId: 'lists-errors', eventId: ulid(), requestId: ulid() };
      await store.runs.create([{ ...made, queuedAt: Date.now(), reconcileAt: Date.now() + 60_000 }]);
      await store.runs.end(made, { status: 'Failed', error }, Date.now());
      const [plain] = await pages('/v1/runs?function_id=lists-errors');
      const beginning = `${'m'.repeat(1_000)}…`;
      expect(plain?.data[0]?.error).to.deep.equal({ name: 'Bad', message: beginning, code: 'E1' });
      const [full] = await pages('/v1/runs?function_id=lists-errors&fields=error,output');
      expect(full?.data[0]).to.deep.include({ run_id: made.id, error, output: error });
    });

    it('GET /v1/runs returns at most 2 MB per page and a cursor for the rest', async () => {
      const made = [];
      for (let n = 0; n < 8; n++) made.unshift(await run('lists-large', text(900_000)));
      const all = await pages('/v1/runs?function_id=lists-large&fields=output');
      expect(field(all, 'run_id')).to.deep.equal(made);
      expect(field(all, 'output').map((output) => String(output).length)).to.deep.equal(Array(8).fill(900_000));
      expect(all.map(({ data }) => data.length)).to.deep.equal([2, 2, 2, 2]);
    });

    it('GET /v1/runs lists a run with an oversized output without it and names the omitted field', async () => {
      const small = await run('lists-huge', '1');
      const huge = await run('lists-huge', text(3_000_000));
      const all = await pages('/v1/runs?function_id=lists-huge&fields=output');
      expect(field(all, 'run_id')).to.deep.equal([huge, small]);
      expect(all[0]?.data[0])
        .to.deep.include({ omitted: ['output'] })
        .and.not.have.property('output');
      expect((await service.get(`/v1/runs/${huge}`)).body.data.output).to.have.length(3_000_000);
    });

    it('GET /v1/runs lists a run whose output is nested too deeply to serialize', async () => {
      const id = await run('lists-deep', `${'['.repeat(100_000)}1${']'.repeat(100_000)}`);
      const all = await pages('/v1/runs?function_id=lists-deep&fields=output');
      expect(all[0]?.data[0]).to.deep.include({ run_id: id, omitted: ['output'] });
    });
  });

  describe('lists of events', () => {
    it('GET /v1/events returns at most 2 MB per page and skips no event', async () => {
      const sent: string[] = [];
      for (let n = 0; n < 7; n++) {
        const { body } = await service.post(service.eventPath, {
          name: 'lists/x',
          data: { n, text: 'é'.repeat(200_000) },
        });
        sent.unshift(body.ids[0]);
      }
      const worker = await service.startWorker();
      await service.waitFor('/v1/events?name=lists/x&exclude=data', ({ body }) => body.data?.length > 0);
      await until(async () => field(await pages('/v1/events?name=lists/x&exclude=data'), 'internal_id').length === 7, {
        describe: 'all are listed',
      });
      await worker.stop();
      service.workers.pop();
      expect(field(await pages('/v1/events?name=lists/x'), 'internal_id')).to.deep.equal(sent);
      expect(field(await pages('/v1/events?limit=100'), 'internal_id')).to.include.members(sent);
    });
  });

  it('GET /v1/holding returns at most 2 MB per page', async () => {
    const hook = { name: 'held', environment: 'branches', transform: HOOK };
    const { body } = await service.post('/v1/webhooks', hook, service.apiHeaders);
    const held: string[] = [];
    for (let n = 0; n < 7; n++) {
      const event = { name: 'held/x', data: { text: 'x'.repeat(450_000) } };
      held.unshift((await service.post(new URL(body.data.url).pathname, event)).body.ids[0]);
    }
    expect(field(await pages('/v1/holding'), 'internal_id')).to.deep.equal(held);
  });

  it('GET /v1/webhooks returns at most 2 MB per page', async () => {
    const transform = `${HOOK}\n/*${'x'.repeat(65_000)}*/`;
    const made: string[] = [];
    for (let n = 0; n < 40; n++) {
      const { body } = await service.post('/v1/webhooks', { name: `w${n}`, transform }, service.apiHeaders);
      made.push(body.data.id);
    }
    expect(field(await pages('/v1/webhooks?limit=100'), 'id')).to.include.members(made);
  });

  it('a response that cannot be serialized becomes an internal error with a log line', async () => {
    const id = await run('deep', '1');
    const memo = `{"data":${'['.repeat(100_000)}1${']'.repeat(100_000)}}`;
    await service.redis.hset(`${service.prefix}:run:production:${id}:memos`, 'deep-step', memo);
    const response = await service.get(`/v1/runs/${id}/steps/deep-step`);
    expect([response.status, response.body.code]).to.deep.equal([500, 'internal']);
    const requestId = response.headers.get('x-request-id') as string;
    const line = () =>
      service
        .output()
        .split('\n')
        .find((item) => item.includes(requestId));
    await until(() => line() !== undefined, { describe: 'the log has it' });
    expect(line()).to.include('"code":"internal"').and.include('Maximum call stack');
  });

  it('a body without a content type is rejected with a message that says so', async () => {
    for (const path of ['/v1/environments', '/auth/sign-in']) {
      const { status, body } = await service.post(path, new TextEncoder().encode('{}'), service.apiHeaders);
      expect([status, body.code], path).to.deep.equal([415, 'content_type_unsupported']);
      expect(body.error, path).to.include('got none; send application/json');
    }
  });

  describe('compression of responses', () => {
    const ask = async (path: string, headers: Record<string, string> = {}) => {
      const init = { headers: { ...service.apiHeaders, 'accept-encoding': 'gzip', ...headers } };
      const response = await fetch(service.url + path, init);
      await response.text();
      return response.headers;
    };
    const LARGE = '/v1/settings';

    it('responses are compressed for clients that accept it', async () => {
      expect((await ask(LARGE)).get('content-encoding')).to.equal('gzip');
      expect((await ask(LARGE, { 'accept-encoding': 'br, gzip' })).get('content-encoding')).to.equal('br');
      expect((await ask(LARGE, { 'accept-encoding': 'identity' })).get('content-encoding')).to.equal(null);
      expect((await ask(LARGE)).get('vary')?.toLowerCase()).to.include('accept-encoding');
      expect((await ask('/openapi.json')).get('content-encoding')).to.equal('gzip');
      expect((await ask('/v1/environments/production')).get('content-encoding')).to.equal(null);
    });

    it('responses are sent uncompressed to clients that accept no available encoding', async () => {
      for (const takes of ['identity;q=0', '*;q=0', 'identity;q=0, gzip;q=0', 'x;q=nonsense', ';', '*']) {
        const { status, headers } = await service.get(LARGE, { ...service.apiHeaders, 'accept-encoding': takes });
        expect([status, headers.get('content-type')], takes).to.deep.equal([200, 'application/json; charset=utf-8']);
      }
    });

    it('responses with credentials are not compressed', async () => {
      for (const path of ['/v1/webhooks?limit=100', '/v1/WebHooks?limit=100']) {
        expect((await ask(path)).get('content-encoding'), path).to.equal(null);
      }
    });

    it('responses to cross-site requests are not compressed', async () => {
      await addUser(service, 'ada@example.com', 'admin');
      const { cookie } = await sessionHeaders(service, 'ada@example.com');
      const by = async (site: string) => {
        const headers = { cookie: cookie as string, authorization: '', 'sec-fetch-site': site };
        return (await ask(LARGE, headers)).get('content-encoding');
      };
      expect(await by('same-origin')).to.equal('gzip');
      expect(await by('cross-site')).to.equal(null);
    });
  });

  it('private responses have cache-control: no-store', async () => {
    for (const path of [
      '/v1/events',
      '/V1/Events',
      '/v1/nothing',
      '/auth/me',
      '/sign-in',
      '/set-password?token=x',
      '/v0/runs/x/actions',
      '/v2/nothing',
      '/invoke/nothing',
      '/docs',
      '/openapi.json',
      '/queues',
      '/queues/api/queues',
      '/nothing',
    ]) {
      expect((await service.get(path)).headers.get('cache-control'), path).to.equal('no-store');
    }
    expect((await service.get('/favicon.svg')).headers.get('cache-control')).not.to.equal('no-store');
  });
});
