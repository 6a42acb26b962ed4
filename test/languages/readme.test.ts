import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import {
  expectExamples,
  type HostedExample,
  hostExample,
  LANGUAGES,
  removeExamplePrograms,
  runExample,
} from '../support/example-programs.ts';
import { type Service, startService } from '../support/service.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const INSTALL_MS = 900_000;

describe('The examples of the READMEs', () => {
  let service: Service;
  let host: HostedExample | undefined;
  before(async () => {
    service = await startService();
  });
  afterEach(async () => {
    await host?.stop();
    host = undefined;
  });
  after(async () => {
    await service.stop();
    removeExamplePrograms();
  });

  for (const { page, first, sends, middleware, flowPage, flow } of LANGUAGES) {
    const files = [first, sends];
    it(`${page} shows ${files.join(' and ')} unchanged`, () => {
      expectExamples(page, files);
    });

    for (const file of middleware === undefined ? [flow] : [flow, middleware]) {
      it(`${flowPage} links to ${file}`, () => {
        expect(readFileSync(join(ROOT, flowPage), 'utf8')).to.include(`/blob/main/${file})`);
      });
    }
  }

  for (const language of LANGUAGES) {
    it(`${language.page} has a first function in ${language.name} that runs on the event it sends`, async function () {
      this.timeout(INSTALL_MS);
      host = await hostExample(language, language.first, service.url);
      expect((await service.post('/v1/apps', { url: host.url })).status).to.equal(200);

      const said = await runExample(language, language.sends, service.url);
      const [eventId] = /[0-9A-Z]{26}/.exec(said) ?? [];
      const { body } = await service.waitFor(`/v1/events/${eventId}/runs`, ({ body }) => body.data?.[0]?.ended_at);
      expect(body.data.map(({ status, output }: Record<string, unknown>) => ({ status, output }))).to.deep.equal([
        { status: 'Completed', output: { sent: 'Receipt for order A1' } },
      ]);
    });

    const { middleware } = language;
    if (middleware === undefined) continue;
    it(`${language.flowPage} has a function in ${language.name} whose results only its app can read`, async function () {
      this.timeout(INSTALL_MS);
      host = await hostExample(language, middleware, service.url);
      expect((await service.post('/v1/apps', { url: host.url })).status).to.equal(200);

      const event = { name: 'order/confirmed', data: { orderId: 'A1', encrypted: { card: '4242' } } };
      const { body: sent } = await service.post('/e/key', event);
      const { body } = await service.waitFor(`/v1/events/${sent.ids[0]}/runs`, ({ body }) => body.data?.[0]?.ended_at);
      expect(body.data.map(({ status }: { status: string }) => status)).to.deep.equal(['Completed']);
      expect(body.data[0].output).to.have.keys('$encrypted', 'key', 'data');
      expect(body.data[0].output.$encrypted).to.equal('tidegate/aes-256-gcm');
    });
  }
});
