import { createHmac } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { serve } from 'tidegate/node';
import { CATALOGUE } from '../../src/errors.ts';
import { startApp } from '../runs/steps/sdk-adapters.ts';
import { request } from '../support/http.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { blocksOf, expectLike, pageOf, partOf, runCurl } from './examples.ts';

/** Beside the tests, so that what it imports is found. */
const MODULE = join(import.meta.dirname, '.webhook-function.ts');
const SECRET = 'a secret of the provider';

describe('Requests in docs/', () => {
  let service: Service;
  before(async () => {
    service = await startService();
  });
  after(() => service?.stop());

  for (const name of ['events.md', 'providers.md', 'transforms.md', 'webhooks.md']) {
    describe(`docs/${name}`, () => {
      /** What later examples take from the responses to earlier ones. */
      const variables: Record<string, string> = {};
      const blocks = blocksOf(pageOf(name));

      for (const [i, { info, code }] of blocks.entries()) {
        if (info !== 'sh') continue;
        const [title = ''] = code.replace(/\s+/g, ' ').split(' -H');
        it(`gets the response that the page shows to ${title.trim()}`, async () => {
          const { status, body } = await until(
            async () => {
              const response = await runCurl(code, service.url, variables);
              // A request enters the log after its response.
              return response.body.data?.length !== 0 && response;
            },
            { describe: () => `the list that ${title} asks for has something in it` },
          );
          remember(body, variables);
          const [, shownStatus, part] = /^json (\d{3})( part)?$/.exec(blocks[i + 1]?.info ?? '') ?? [];
          expect(status, JSON.stringify(body)).to.equal(Number(shownStatus ?? 200));
          if (!shownStatus) return;
          const shown = JSON.parse(blocks[i + 1]?.code ?? '');
          expectLike(part ? partOf(body, shown) : body, shown, service.url);
        });
      }

      it('shows every error code with its status', () => {
        const named = [...pageOf(name).matchAll(/\b([45]\d\d) `?([a-z]+_[a-z_]+|internal|overloaded|unavailable)\b/g)];
        expect(named).not.to.have.length(0);
        for (const [text, status, code = ''] of named) {
          expect(CATALOGUE, text).to.have.property(code);
          expect(CATALOGUE[code as keyof typeof CATALOGUE][0], text).to.equal(Number(status));
        }
      });
    });
  }

  describe('the signature example in docs/webhooks.md', () => {
    const blocks = blocksOf(pageOf('webhooks.md'));
    const code = (info: string) => blocks.find((block) => block.info === info)?.code ?? '';
    after(() => rmSync(MODULE, { force: true }));

    it('completes for a signed request and fails for a forged one', async () => {
      process.env.GITHUB_SECRET = SECRET;
      writeFileSync(
        MODULE,
        code('ts function').replace("id: 'hub'", `id: 'hub', isDev: true, baseUrl: '${service.url}'`),
      );
      const { client, signed } = await import(MODULE);
      const app = await startApp(serve({ client, functions: [signed] }));
      try {
        expect((await request('PUT', app.url)).status).to.equal(200);
        const made = await service.post('/v1/webhooks', { name: 'GitHub', transform: code('js transform') });
        const body = '{"ref":"refs/heads/main"}';
        const runFor = async (secret: string) => {
          const sig = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
          const sent = await request('POST', made.body.data.url, { body, headers: { 'x-hub-signature-256': sig } });
          const path = `/v1/events/${sent.body.ids[0]}/runs`;
          return (await service.waitFor(path, ({ body }) => body.data?.[0]?.ended_at)).body.data[0];
        };
        expect(await runFor(SECRET)).to.include({ status: 'Completed', output: 'refs/heads/main' });
        expect(await runFor('another')).to.include({ status: 'Failed' });
      } finally {
        await app.close();
      }
    });
  });
});

// biome-ignore lint/suspicious/noExplicitAny: any response of the API
function remember({ data }: any, variables: Record<string, string>): void {
  if (data?.url) Object.assign(variables, { WEBHOOK_URL: data.url, WEBHOOK_ID: data.id });
  if (data?.[0]?.id) variables.REQUEST_ID = data[0].id;
}
