import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { violations } from '../support/axe.ts';
import { browserForSuite, open } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';
import { expectAccessible } from './accessible.ts';

describe('The run page of the dashboard', () => {
  const withPage = browserForSuite({ onePage: true });
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

  it('re-runs a run from one of its steps, and says why a run was cancelled', () =>
    withPage(async (page) => {
      const stepId = 'a'.repeat(40);
      host.on('two', ({ body }) =>
        body.ctx.stack.stack.length > 0
          ? { body: 'done' }
          : { status: 206, body: [{ id: stepId, op: 'StepRun', name: 'pick', displayName: 'pick', data: 1 }] },
      );
      await host.register(service, [{ id: 'two', triggers: [{ event: 'chat/two' }] }], { appName: 'steps' });
      const [eventId] = (await service.post('/e/key', { name: 'chat/two', data: {} })).body.ids;
      const { body } = await service.waitFor(`/v1/events/${eventId}/runs`, ({ body }) => body.data[0]?.ended_at);
      await open(page, `${service.url}/runs/${body.data[0].run_id}`);
      await page.getByRole('button', { name: /pick/ }).first().click();
      await page.getByRole('button', { name: 'Re-run from here' }).click();
      const rerun = page.getByRole('dialog', { name: 'Re-run from pick' });
      await rerun.getByRole('textbox', { name: 'Arguments (JSON)' }).fill('{}');
      await rerun.getByText('Arguments must be a JSON array').waitFor();
      expect(await violations(page)).to.deep.equal([]);
      host.on('two', () => ({ status: 206, body: [{ id: 'b'.repeat(40), op: 'Sleep', opts: { duration: '1h' } }] }));
      await rerun.getByRole('textbox', { name: 'Arguments (JSON)' }).fill('');
      await rerun.getByRole('button', { name: 'Re-run', exact: true }).click();
      await page.getByText('from step').waitFor();
      const runId = new URL(page.url()).pathname.split('/').at(-1) as string;
      expect((await service.get(`/v1/runs/${runId}`)).body.data.from_step).to.equal(stepId);
      await service.request('DELETE', `/v1/runs/${runId}`);
      await page.getByRole('definition').getByText('dev mode').waitFor();
    }));

  it('says that a run was re-run, when and as which, and asks before it is re-run once more', () =>
    withPage(async (page) => {
      host.on('answer', () => ({ body: 'yes' }));
      const [eventId] = (await service.post('/e/key', { name: 'chat/asked', data: {} })).body.ids;
      const ended = (runs: number) =>
        service.waitFor(`/v1/events/${eventId}/runs`, ({ body }) => {
          return body.data.length === runs && body.data.every((run: { ended_at: string | null }) => run.ended_at);
        });
      const [{ run_id: first }] = (await ended(1)).body.data;
      await open(page, `${service.url}/runs/${first}`);
      await page.getByRole('button', { name: 'Re-run', exact: true }).click();
      await page.waitForURL((url) => !url.pathname.endsWith(first));
      const second = new URL(page.url()).pathname.split('/').at(-1) as string;
      await ended(2);

      await open(page, `${service.url}/runs/${first}`);
      await page.getByText(/^re-run .* as/).waitFor();
      await page.getByRole('button', { name: 'Re-run', exact: true }).click();
      const dialog = page.getByRole('dialog', { name: 'Re-run once more?' });
      await dialog.getByText('has completed').waitFor();
      expect(await dialog.getByRole('link').getAttribute('href')).to.include(second);
      await expectAccessible(page);
      await dialog.getByRole('button', { name: 'Cancel' }).click();

      await open(page, `${service.url}/runs`);
      const row = page.getByRole('row').filter({ has: page.locator(`a[href*="${first}"]`) });
      await row.getByRole('button', { name: 'Re-run chat-answer' }).click();
      await dialog.getByText('has completed').waitFor();
      await ended(2);
      await dialog.getByRole('button', { name: 'Re-run again' }).click();
      await dialog.waitFor({ state: 'detached' });
      await ended(3);
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
