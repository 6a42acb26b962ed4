/** Roles by environment (docs/security.md#roles-by-environment): how admins give them, and what the dashboard shows whom. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { addUser } from '../support/auth.ts';
import { browserForSuite, signIn } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';
import { expectAccessible } from './accessible.ts';
import { make } from './fixtures.ts';

const ADMIN = 'ada@example.com';

describe('Roles in the dashboard', () => {
  const withPage = browserForSuite();
  let service: Service;
  before(async () => {
    service = await startService({ dev: false, workers: 0 });
    await make(service, '/v1/environments', { name: 'staging' });
    await addUser(service, ADMIN, 'admin');
  });
  after(() => service.stop());

  async function enter(page: Page, email: string, path: string): Promise<void> {
    await page.goto(service.url + path);
    await signIn(page, email);
    await page.getByRole('heading', { level: 1 }).first().waitFor();
  }

  async function rolesOf(email: string): Promise<object> {
    const { body } = await service.get('/v1/users', service.apiHeaders);
    return body.data.find((user: { email: string }) => user.email === email).environment_roles;
  }

  it('an admin gives a user other roles in an environment and in all branches, and the user sees them', () =>
    withPage(async (page) => {
      const email = 'grace@example.com';
      await addUser(service, email, 'read-only');
      await enter(page, ADMIN, '/users');
      const row = page.getByRole('row').filter({ hasText: email });
      const change = row.getByRole('button', { name: `Change the roles of ${email}` });
      await change.click();
      const dialog = page.getByRole('dialog', { name: `Roles of ${email}` });
      await dialog.getByLabel('production').waitFor();
      await expectAccessible(page);
      await dialog.getByLabel('staging').selectOption('member');
      await dialog.getByLabel('all branches').selectOption('none');
      await dialog.getByRole('button', { name: 'Save' }).click();
      await row.getByText('read-only, member in staging, none in all branches').waitFor();
      expect(await rolesOf(email)).to.deep.equal({ staging: 'member', branches: 'none' });
      await change.click();
      await dialog.getByLabel('all branches').selectOption('as elsewhere: read-only');
      await dialog.getByRole('button', { name: 'Save' }).click();
      await row.getByText('read-only, member in staging', { exact: true }).waitFor();
      await expectAccessible(page);

      await page.context().clearCookies();
      await enter(page, email, '/account');
      await page.getByText('read-only, member in staging.').waitFor();
      await expectAccessible(page);
    }));

  it('an invitation gives roles in environments, too', () =>
    withPage(async (page) => {
      const email = 'edsger@example.com';
      await enter(page, ADMIN, '/users');
      await page.getByRole('button', { name: 'Invite user' }).click();
      const dialog = page.getByRole('dialog', { name: 'Invite user' });
      await dialog.getByLabel('Email address').fill(email);
      await dialog.getByLabel('Role', { exact: true }).selectOption('none');
      await dialog.getByLabel('staging').selectOption('admin');
      await expectAccessible(page);
      await dialog.getByRole('button', { name: 'Create link' }).click();
      await page
        .getByRole('dialog', { name: 'Password link' })
        .getByText(/set-password\?token=/)
        .first()
        .waitFor();
      expect(await rolesOf(email)).to.deep.equal({ staging: 'admin' });
    }));

  describe('what a role may not read', () => {
    const pagesOf = (page: Page) => page.getByRole('navigation', { name: 'Pages' }).getByRole('link');

    it('a reader finds no page for admins in menu and palette, and its URL says who can let them in', () =>
      withPage(async (page) => {
        await addUser(service, 'reader@example.com', 'read-only');
        const asked: string[] = [];
        page.on('request', (request) => asked.push(new URL(request.url()).pathname));
        await enter(page, 'reader@example.com', '/users');
        await page.getByText('This page needs the role admin, which an admin can give you under Users.').waitFor();
        expect(asked).not.to.include('/v1/users');
        await expectAccessible(page);
        expect(await pagesOf(page).allInnerTexts())
          .to.include.members(['Events', 'Webhooks', 'Keys', 'Environments'])
          .and.not.include.members(['Users', 'Audit log', 'Settings']);
        await page.getByRole('button', { name: 'Jump to' }).click();
        await page.getByRole('combobox', { name: 'Jump to' }).fill('audit');
        await page.getByText('No results').waitFor();
        await page.getByRole('combobox', { name: 'Jump to' }).fill('environments');
        await page.getByRole('option', { name: 'Environments page' }).click();
        await page.getByRole('heading', { level: 1, name: 'Environments' }).waitFor();
        for (const path of ['/audit-log', '/settings']) {
          await page.goto(service.url + path);
          await page.getByText('This page needs the role admin').waitFor();
        }
      }));

    it('in a hidden environment, pages of all environments remain', () =>
      withPage(
        async (page) => {
          await addUser(service, 'partner@example.com', 'member', { staging: 'none' });
          await enter(page, 'partner@example.com', '/runs?env=staging');
          await page
            .getByText('This page needs the role read-only, or a higher one, in the environment staging,')
            .waitFor();
          expect(await pagesOf(page).allInnerTexts()).to.deep.equal([
            'Webhooks',
            'Webhook issues',
            'Held events',
            'Keys',
            'Environments',
          ]);
          await page.getByRole('combobox', { name: 'Environment' }).selectOption('production');
          await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor();
          await pagesOf(page).getByText('Events', { exact: true }).waitFor();
        },
        // The status of the service is asked for on every page.
        { forgive: /403/ },
      ));
  });
});
