import { type AppHost, startAppHost } from '../support/app-host.ts';
import { browserForSuite, open } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';

describe('dashboard run page', () => {
  const withPage = browserForSuite();
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService();
    host = await startAppHost();
    await host.register(service, [{ id: 'answer', triggers: [{ event: 'chat/asked' }] }], { appName: 'chat' });
  });
  after(async () => {
    await service.stop();
    await host.close();
  });

  it('shows the metadata of a run and of its steps', () =>
    withPage(async (page) => {
      const [eventId] = (await service.post('/e/key', { name: 'chat/asked', data: {} })).body.ids;
      const { body } = await service.waitFor(`/v1/events/${eventId}/runs`, ({ body }) => body.data[0]?.ended_at);
      const run_id = body.data[0].run_id;
      const score = { kind: 'inngest.score', op: 'merge', values: { helpful: { value: 0.75 } } };
      await service.post(`/v1/runs/${run_id}/metadata`, { target: { run_id }, metadata: [score] });
      const target = { run_id, step_id: 'ask', step_attempt: 1 };
      await service.post(`/v1/runs/${run_id}/metadata`, { target, metadata: [{ kind: 'userland.model', values: {} }] });
      await open(page, `${service.url}/runs/${run_id}`);
      await page.getByRole('heading', { name: 'Metadata' }).waitFor();
      await page.getByText('inngest.score').waitFor();
      await page.getByText('0.75').waitFor();
      await page.getByText(/Step \w{8}, attempt 2/).waitFor();
    }));

  it('shows the code, the data and the cause of an error', () =>
    withPage(async (page) => {
      const error = {
        name: 'PaymentError',
        message: 'declined',
        code: 'card_declined',
        data: { card: '4242' },
        cause: 'the bank',
      };
      host.on('fails', () => ({ status: 400, headers: { 'x-service-no-retry': 'true' }, body: error }));
      await host.register(service, [{ id: 'fails', triggers: [{ event: 'chat/paid' }] }], { appName: 'payments' });
      const [eventId] = (await service.post('/e/key', { name: 'chat/paid', data: {} })).body.ids;
      const { body } = await service.waitFor(`/v1/events/${eventId}/runs`, ({ body }) => body.data[0]?.ended_at);
      await open(page, `${service.url}/runs/${body.data[0].run_id}`);
      for (const text of ['(code card_declined)', '"card": "4242"', '"the bank"']) {
        await page.getByText(text).first().waitFor();
      }
    }));
});
