import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { addUser } from '../support/auth.ts';
import { browserForSuite, open, settled, signIn } from '../support/browser.ts';
import { type OwnRedis, startOwnRedis } from '../support/own-redis.ts';
import { type Service, startService } from '../support/service.ts';

const ADMIN = 'ada@example.com';
/** What a browser logs of failed requests. */
const FAILED = /503|ERR_|Failed to load/;

const strip = (page: Page) => page.getByRole('status', { name: 'Service' });
const badge = (page: Page, text: string) => page.getByRole('banner').getByText(text, { exact: true });

describe('The status of the service in the dashboard', () => {
  const withPage = browserForSuite();
  let redis: OwnRedis;
  let service: Service;
  beforeEach(async () => {
    redis = await startOwnRedis();
    service = await startService({ dev: false, env: { REDIS_URL: redis.url } });
    await addUser(service, ADMIN, 'admin');
  });
  afterEach(async () => {
    await service.stop();
    await redis.remove();
  });

  it('an open page says that the store is unreachable, and continues when it is back', () =>
    withPage(
      async (page) => {
        await page.goto(`${service.url}/keys`);
        await signIn(page, ADMIN);
        await badge(page, 'Live').waitFor();
        await redis.stop();
        await strip(page).getByText('Store unreachable.').waitFor();
        await redis.start();
        await badge(page, 'Live').waitFor();
        await strip(page).getByText('Store unreachable.').waitFor({ state: 'detached' });
      },
      { forgive: FAILED },
    ));

  it('a page opened while the store is unreachable loads, and shows its data when the store is back', () =>
    withPage(
      async (page) => {
        await page.goto(`${service.url}/environments`);
        await signIn(page, ADMIN);
        await settled(page);
        await redis.stop();
        const response = await page.goto(`${service.url}/environments`);
        expect(response?.status()).to.equal(503);
        await strip(page).getByText('Store unreachable.').waitFor();
        await redis.start();
        await page.getByRole('cell', { name: 'production' }).first().waitFor();
        await badge(page, 'Live').waitFor();
      },
      { forgive: FAILED },
    ));

  it('the sign-in page loads while the store is unreachable, and keeps the email address', () =>
    withPage(
      async (page) => {
        await page.goto(`${service.url}/sign-in`);
        await page.getByLabel('Email address').fill(ADMIN);
        await page.getByLabel('Password').fill('a wrong password');
        await page.getByRole('button', { name: 'Sign in' }).click();
        await page.getByRole('alert').waitFor();
        expect(await page.getByLabel('Email address').inputValue()).to.equal(ADMIN);
        await redis.stop();
        await signIn(page, ADMIN);
        await page.getByRole('alert').getByText('Redis').waitFor();
        expect(await page.getByLabel('Email address').inputValue()).to.equal(ADMIN);
        await redis.start();
      },
      { forgive: /401|503/ },
    ));

  it('an open page says that it is reconnecting while web is down', () =>
    withPage(
      async (page) => {
        await page.goto(`${service.url}/keys`);
        await signIn(page, ADMIN);
        await badge(page, 'Live').waitFor();
        await service.webs[0]?.stop();
        service.webs.length = 0;
        await strip(page).getByText('Reconnecting.').waitFor();
      },
      { forgive: FAILED },
    ));
});

describe('Unknown paths', () => {
  const withPage = browserForSuite();
  let service: Service;
  before(async () => {
    service = await startService({ workers: 0 });
  });
  after(() => service.stop());

  it('return a 404 page to a browser and JSON to a program', () =>
    withPage(
      async (page) => {
        const response = await page.goto(`${service.url}/nope`);
        expect(response?.status()).to.equal(404);
        await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor();
        await page.getByRole('link', { name: 'Go to the overview' }).click();
        await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
        const { status, body } = await service.get('/nope', { accept: 'application/json' });
        expect([status, body.code]).to.deep.equal([404, 'not_found']);
        expect((await service.get('/v1/nope', { accept: 'text/html' })).body.code).to.equal('not_found');
      },
      { forgive: /404/ },
    ));

  it('without a worker, every page says so', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/keys`);
      await strip(page).getByText('No worker.').waitFor();
      await badge(page, 'No worker').waitFor();
    }));
});
