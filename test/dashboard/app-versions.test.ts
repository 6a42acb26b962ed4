import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { browserForSuite, open } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';
import { expectAccessible } from './accessible.ts';

const NAP = { id: 'a'.repeat(40), op: 'Sleep', name: '1h', displayName: 'nap' };
const FUNCTIONS = [{ id: 'remind', triggers: [{ event: 'order/paid' }], versioning: 'pinned' }];

describe('Versions of an app in the dashboard', function () {
  this.timeout(90_000);
  const withPage = browserForSuite({ onePage: true });
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService();
    host = await startAppHost();
    host.on('remind', () => ({ status: 206, body: [NAP] }));
  });
  after(async () => {
    await service.stop();
    await host.close();
  });

  /** An app with a run on each of these versions, of which the last is active. @returns the runs */
  async function deploy(app: string, versions: readonly string[]): Promise<string[]> {
    const runs: string[] = [];
    for (const appVersion of versions) {
      const functions = FUNCTIONS.map((fn) => ({ ...fn, triggers: [{ event: `${app}/paid` }] }));
      const body = { ...host.registration(functions, { appName: app }), appVersion };
      const { status } = await service.post('/fn/register', body, { 'x-service-sdk': 'js:v1.0.0' });
      expect(status).to.equal(200);
      const { ids } = (await service.post(service.eventPath, { name: `${app}/paid`, data: {} })).body;
      const { body: found } = await service.waitFor(
        `/v1/events/${ids[0]}/runs`,
        ({ body }) => body.data?.[0]?.state?.kind === 'sleeping',
      );
      runs.push(found.data[0].run_id);
    }
    return runs;
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect of it
  const version = async (app: string, name: string): Promise<any> =>
    (await service.get(`/v1/apps/${app}/versions`)).body.data.find(
      (item: { version: string }) => item.version === name,
    );
  const versionOfRun = async (id: string) => (await service.get(`/v1/runs/${id}`)).body.data.app_version;

  it('ramps a version up with a bound that aborts it, changes the share, and makes it active', () =>
    withPage(async (page) => {
      await deploy('ramped', ['v1', 'v2']);
      await open(page, `${service.url}/apps/ramped`);
      const item = page.getByRole('list', { name: 'Versions' }).getByRole('listitem').filter({ hasText: /^v1/ });
      await item.getByText('Draining').waitFor();
      await item.getByRole('button', { name: 'Activate…' }).click();
      const dialog = page.getByRole('dialog', { name: 'Start new runs on v1?' });
      await dialog.getByLabel('Percent of new runs').fill('5');
      expect(await dialog.getByLabel('After so many runs').isEnabled()).to.equal(false);
      await dialog.getByLabel('Abort above this percentage of failed runs').fill('10');
      await dialog.getByLabel('After so many runs').fill('50');
      await expectAccessible(page);
      await dialog.getByRole('button', { name: 'Activate' }).click();
      await item.getByText('5 % of new runs · 0 of 0 runs failed').waitFor();
      const ramping = await version('ramped', 'v1');
      expect(ramping).to.include({ state: 'ramping', percent: 5 });
      expect(ramping.ramp.abort_when).to.deep.equal({ failure_rate: 0.1, min_runs: 50 });
      await item.getByRole('button', { name: 'Change…' }).click();
      expect(await dialog.getByLabel('Abort above this percentage of failed runs').inputValue()).to.equal('10');
      expect(await dialog.getByLabel('After so many runs').inputValue()).to.equal('50');
      await dialog.getByLabel('Percent of new runs').fill('100');
      await dialog.getByRole('button', { name: 'Set', exact: true }).click();
      await item.getByText('Active').waitFor();
      expect(await version('ramped', 'v1')).to.deep.include({ state: 'active', percent: 100, ramp: null });
      await page
        .getByRole('term')
        .filter({ hasText: /^Build$/ })
        .locator('xpath=../dd')
        .filter({ hasText: 'v1' })
        .waitFor();
    }));

  it('sets how an app pins its runs, and how its versions become active', () =>
    withPage(async (page) => {
      await deploy('set', ['v1']);
      await open(page, `${service.url}/apps/set`);
      const card = page.getByRole('list', { name: 'Versions' }).locator('xpath=ancestor::section[1]');
      await card.getByRole('button', { name: 'Settings…' }).click();
      const dialog = page.getByRole('dialog', { name: 'Settings of versions' });
      await dialog.getByLabel('New runs').selectOption('pinned');
      await dialog.getByLabel('A new version').selectOption('manual');
      await expectAccessible(page);
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.waitFor({ state: 'detached' });
      expect((await service.get('/v1/apps/set')).body.data).to.include({ versioning: 'pinned', activation: 'manual' });
      await card.getByRole('button', { name: 'Settings…' }).click();
      await dialog.getByLabel('A new version').selectOption('');
      expect(await dialog.getByLabel('New runs').inputValue()).to.equal('pinned');
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.waitFor({ state: 'detached' });
      expect((await service.get('/v1/apps/set')).body.data).to.include({ versioning: 'pinned', activation: null });
    }));

  it('moves all runs of a version to another one', () =>
    withPage(async (page) => {
      const [first, second] = await deploy('moved', ['v1', 'v2']);
      await open(page, `${service.url}/apps/moved`);
      const item = page.getByRole('list', { name: 'Versions' }).getByRole('listitem').filter({ hasText: /^v1/ });
      await item.getByRole('button', { name: 'Move runs…' }).click();
      const dialog = page.getByRole('dialog', { name: /1 run\?$/ });
      await dialog.getByLabel('Version').selectOption('v2');
      await expectAccessible(page);
      await dialog.getByRole('button', { name: /1 run$/ }).click();
      await item.getByText('Drained').waitFor();
      expect(await Promise.all([first, second].map((id) => versionOfRun(id as string)))).to.deep.equal(['v2', 'v2']);
      expect(await version('moved', 'v2')).to.include({ active_runs: 2 });
    }));

  it('moves the runs that a filter of the list selects, if they are of one app', () =>
    withPage(async (page) => {
      const runs = await deploy('listed', ['v1', 'v2']);
      await deploy('beside', ['v1']);
      const table = page.getByRole('table', { name: 'Runs' });
      const bar = page.getByRole('region', { name: 'Selection' });
      const move = bar.getByRole('button', { name: 'Move to another version…' });
      await open(page, `${service.url}/runs`);
      await table.getByRole('checkbox', { name: /^Select run of beside/ }).check();
      expect(await move.isEnabled(), 'of one app').to.equal(true);
      await table
        .getByRole('checkbox', { name: /^Select run of listed/ })
        .first()
        .check();
      expect(await move.isEnabled(), 'of two').to.equal(false);

      await open(page, `${service.url}/runs?app=listed`);
      await table
        .getByRole('checkbox', { name: /^Select run of listed/ })
        .first()
        .check();
      await bar.getByRole('button', { name: 'Select all 2 runs that match' }).click();
      await move.click();
      const dialog = page.getByRole('dialog', { name: 'Move to another version: 2 runs?' });
      await dialog.getByLabel('Version').selectOption('v1');
      await expectAccessible(page);
      await dialog.getByRole('button', { name: /2 runs$/ }).click();
      await page.getByText('2 runs moved to another version').waitFor();
      expect(await Promise.all(runs.map(versionOfRun))).to.deep.equal(['v1', 'v1']);
      expect(await version('beside', 'v1')).to.include({ active_runs: 1 });
    }));

  it('moves one run on its page', () =>
    withPage(async (page) => {
      const [run] = (await deploy('one', ['v1', 'v2'])) as [string];
      await open(page, `${service.url}/runs/${run}`);
      const move = page.getByRole('button', { name: 'Move…' });
      const dialog = page.getByRole('dialog', { name: 'Move to another version' });
      await move.click();
      await dialog.getByLabel('Version').selectOption('v2');
      await expectAccessible(page);
      await dialog.getByRole('button', { name: 'Move', exact: true }).click();
      await page.getByText('The run ends on v2').waitFor();
      expect(await versionOfRun(run)).to.equal('v2');
      await move.click();
      await dialog.getByRole('option', { name: 'v1 (drained)' }).waitFor({ state: 'attached' });
      expect(await dialog.getByRole('option').count(), 'v2 is no choice').to.equal(2);
      await dialog.getByRole('button', { name: 'Move', exact: true }).click();
      await page.getByText('The run continues with the active version').waitFor();
      expect(await versionOfRun(run)).to.equal(null);
    }));
});
