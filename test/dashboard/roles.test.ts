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
});
