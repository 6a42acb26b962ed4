import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { addUser, tokenIn } from '../support/auth.ts';
import { violations } from '../support/axe.ts';
import { browserForSuite } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const PHONE = { width: 360, height: 640 };

/** In light and dark, and on a phone, where nothing may be wider than the screen. */
async function check(page: Page): Promise<void> {
  await page.setViewportSize(PHONE);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await violations(page), colorScheme).to.deep.equal([]);
  }
  expect(await page.evaluate<number>('document.documentElement.scrollWidth')).to.be.at.most(PHONE.width);
  const logo = page.getByRole('banner').locator('img');
  expect(await logo.evaluate((img) => (img as unknown as { naturalWidth: number }).naturalWidth)).to.be.greaterThan(0);
}

describe('Sign-in pages', () => {
  const withPage = browserForSuite();
  let service: Service;
  before(async () => {
    service = await startService({ dev: false, workers: 0 });
  });
  after(() => service.stop());

  it('without an admin say where the set-up link is, which leads to the dashboard', () =>
    withPage(async (page) => {
      await page.goto(`${service.url}/runs`);
      await page.getByText('There are no users yet.').waitFor();
      await check(page);
      const link = () => service.output().match(/http:\S+\/set-up\?token=[\w-]+/)?.[0];
      const found = await until(link, { describe: 'web wrote the link' });
      await page.goto(`${service.url}/set-up?token=${tokenIn(found)}`);
      await check(page);
      await page.getByLabel('Email address').fill('first@example.com');
      await page.getByLabel('Password').fill('first of all admins');
      await page.getByRole('button', { name: 'Create account' }).click();
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    }));

  it('say what was wrong, and keep the email address', () =>
    withPage(
      async (page) => {
        await addUser(service, 'ada@example.com', 'admin');
        await page.goto(`${service.url}/sign-in`);
        await page.getByLabel('Email address').fill('ada@example.com');
        await page.getByLabel('Password').fill('not her password');
        await page.getByRole('button', { name: 'Sign in' }).click();
        const message = page.getByRole('alert').filter({ hasText: 'The email address or password is wrong.' });
        await message.waitFor();
        expect(await page.getByLabel('Email address').inputValue()).to.equal('ada@example.com');
        await check(page);
      },
      { forgive: /401/ },
    ));
});
