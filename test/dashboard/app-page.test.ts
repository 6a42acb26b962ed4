import { expect } from 'chai';
import { type AppHost, type FunctionSpec, startAppHost } from '../support/app-host.ts';
import { browserForSuite, open } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';
import { expectAccessible } from './accessible.ts';

const on = (id: string, options: object = {}): FunctionSpec => ({
  id,
  triggers: [{ event: `shop/${id}` }],
  ...options,
});

describe('The app page of the dashboard', function () {
  this.timeout(90_000);
  const withPage = browserForSuite({ onePage: true });
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService({ workers: 0 });
    host = await startAppHost();
    await register([on('pay')], { sdk: 'js:v1.2.0' });
    await register([on('pay', { concurrency: 2 }), on('ship')], { sdk: 'js:v1.3.0', appVersion: 'v42' });
    await register('none', {});
    await register([on('pay', { concurrency: 2 }), on('ship')], { sdk: 'js:v1.3.0', appVersion: 'v42' });
  });
  after(async () => {
    await host.close();
    await service.stop();
  });

  const register = (functions: FunctionSpec[] | string, more: object) => {
    const registration = host.registration(Array.isArray(functions) ? functions : [], { appName: 'shop' });
    const body = { ...registration, ...(typeof functions === 'string' && { functions }), ...more };
    return service.post('/fn/register', body, { 'x-service-sdk': 'js:v1.0.0' });
  };

  it('shows the language and version of the SDK, the build, and who registered the app', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/apps/shop`);
      const value = (term: string) =>
        page
          .getByRole('term')
          .filter({ hasText: new RegExp(`^${term}$`) })
          .locator('xpath=../dd')
          .innerText();
      expect(await value('SDK')).to.match(/TypeScript 1\.3\.0$/);
      expect(await value('Build')).to.equal('v42');
      expect(await value('Last registration')).to.match(
        /Registered.*by the app.*Last failure .* by the app: .*functions/s,
      );
    }));

  it('lists deploys with their changes, and links to the functions', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/apps/shop`);
      const deploys = page.getByRole('list', { name: 'Deploys' });
      const second = deploys.locator(':scope > li').first();
      await second.getByText('SDK js:v1.3.0, build v42, 1 function added, 1 changed').waitFor();
      expect(await deploys.locator(':scope > li').count()).to.equal(2);
      await second.getByText('What changed').click();
      await second.getByText('js:v1.2.0 → js:v1.3.0').waitFor();
      await second.getByText('(concurrency)').waitFor();
      await expectAccessible(page);
      await second.getByRole('link', { name: 'shop-ship' }).click();
      await page.waitForURL('**/functions/shop-ship');
    }));

  it('shows a new deploy without a reload', () =>
    withPage(async (page) => {
      await page.clock.install();
      await open(page, `${service.url}/apps/shop`);
      await page.getByText('first registration').waitFor();
      await register([on('pay'), on('ship')], { sdk: 'js:v1.3.0', appVersion: 'v43' });
      await page.clock.fastForward(31_000);
      await page.getByText('build v43, 1 function changed').waitFor();
    }));
});
