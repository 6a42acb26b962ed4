import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { freePort } from '../../scripts/lib/ports.ts';
import { totpCode } from '../../src/model/auth/totp.ts';
import { addUser, PASSWORD } from '../support/auth.ts';
import { violations } from '../support/axe.ts';
import { browserForSuite, settled, signIn } from '../support/browser.ts';
import { Members } from '../support/second-factors.ts';
import { type Service, startService } from '../support/service.ts';
import { addAuthenticator } from '../support/virtual-authenticator.ts';
import { expectAccessible } from './accessible.ts';

const PHONE = { width: 360, height: 640 };

describe('The account page', () => {
  const withPage = browserForSuite();
  let service: Service;
  let origin: string;
  let members: Members;
  before(async () => {
    const port = await freePort();
    // Browsers have no passkeys at IP addresses.
    origin = `http://localhost:${port}`;
    service = await startService({ dev: false, workers: 0, env: { PORT: String(port), PUBLIC_URL: origin } });
    members = new Members(service, origin);
    await addUser(service, 'admin@example.com', 'admin');
  });
  after(() => service.stop());

  async function enter(page: Page, email: string, path = '/account'): Promise<void> {
    await page.goto(origin + path);
    await signIn(page, email);
  }

  async function giveCode(page: Page, code: string): Promise<void> {
    await page.getByLabel('Code of the authenticator app').fill(code);
    await page.getByRole('button', { name: 'Continue' }).click();
  }

  /** A page of the service without the dashboard. */
  async function expectAccessiblePage(page: Page): Promise<void> {
    const size = page.viewportSize();
    await page.setViewportSize(PHONE);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await violations(page), colorScheme).to.deep.equal([]);
    }
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).to.be.at.most(PHONE.width);
    if (size) await page.setViewportSize(size);
  }

  it('an authenticator app is set up, asked for at sign-in, and removed', () =>
    withPage(
      async (page) => {
        const id = await addUser(service, 'app@example.com', 'read-only');
        await enter(page, 'app@example.com', '/');
        await page.getByRole('link', { name: 'app@example.com' }).click();
        await page.getByText('Your password alone signs you in.').waitFor();
        await page.getByRole('button', { name: 'Set up app' }).click();
        const dialog = page.getByRole('dialog');
        await dialog.getByLabel('Current password').fill('not it');
        await dialog.getByRole('button', { name: 'Continue' }).click();
        await dialog.getByText('The current password is wrong.').waitFor();
        await dialog.getByLabel('Current password').fill(PASSWORD);
        await dialog.getByRole('button', { name: 'Continue' }).click();
        await dialog.getByRole('img', { name: 'QR code' }).waitFor();
        await expectAccessible(page);
        const secret = await dialog.locator('code').innerText();
        await dialog.getByLabel('Code').fill(totpCode(secret, Date.now()));
        await dialog.getByRole('button', { name: 'Set up' }).click();
        await page.getByRole('dialog', { name: 'Recovery codes' }).waitFor();
        await page.getByRole('button', { name: 'Done' }).click();
        await page.getByText('10 of 10 are left').waitFor();
        await expectAccessible(page);
        await members.forgetCode(id);

        await page.context().clearCookies();
        await enter(page, 'app@example.com');
        await page.getByRole('heading', { level: 1, name: 'One more step' }).waitFor();
        await expectAccessiblePage(page);
        await giveCode(page, '000000');
        await page.getByRole('alert').filter({ hasText: 'The code or passkey is not accepted' }).waitFor();
        await giveCode(page, totpCode(secret, Date.now()));
        await page.waitForURL('**/account');

        await page.getByRole('button', { name: 'Remove app' }).click();
        await page.getByRole('dialog').getByLabel('Current password').fill(PASSWORD);
        await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
        await page.getByText('Your password alone signs you in.').waitFor();
      },
      { forgive: /401/ },
    ));

  it('a passkey is added, and signs in on the second page', () =>
    withPage(async (page) => {
      await addUser(service, 'key@example.com', 'member');
      await addAuthenticator(page);
      await enter(page, 'key@example.com');
      await page.getByRole('button', { name: 'Add passkey' }).click();
      const dialog = page.getByRole('dialog');
      await expectAccessible(page);
      await dialog.getByLabel('Name').fill('Laptop');
      await dialog.getByLabel('Current password').fill(PASSWORD);
      await dialog.getByRole('button', { name: 'Add' }).click();
      await page.getByRole('dialog', { name: 'Recovery codes' }).waitFor();
      await page.getByRole('button', { name: 'Done' }).click();
      await page.getByText('Passkey Laptop').waitFor();

      await page.context().clearCookies();
      await enter(page, 'key@example.com', '/account');
      await page.getByRole('button', { name: 'Use a passkey' }).waitFor();
      await expectAccessiblePage(page);
      await page.getByRole('button', { name: 'Use a passkey' }).click();
      await page.waitForURL('**/account');
      await page.getByText('for localhost, added').waitFor();
      await page.getByText(/, used /).waitFor();
    }));

  it('without a passkey at hand, a recovery code signs in', () =>
    withPage(
      async (page) => {
        const { email, recoveryCodes } = await members.addWithTotp('recover@example.com');
        await enter(page, email);
        await page.getByText('Use a recovery code').click();
        await page.getByLabel('Recovery code').fill(recoveryCodes[0] as string);
        await page.getByRole('button', { name: 'Use recovery code' }).click();
        await page.getByText('9 of 10 are left').waitFor();
      },
      { forgive: /401/ },
    ));

  it('lists sessions with their browser, and ends others', () =>
    withPage(async (page) => {
      const { email, client } = await members.add('sessions@example.com');
      await enter(page, email);
      const list = page.getByRole('list', { name: 'Sessions' }).getByRole('listitem');
      await list.filter({ hasText: 'Chrome on Linux' }).getByText('this browser').waitFor();
      await list.filter({ hasText: 'node' }).first().waitFor();
      expect(await list.count()).to.equal(3);
      await list.filter({ hasText: 'node' }).first().getByRole('button', { name: 'End' }).click();
      await page.getByText('The session has ended').waitFor();
      expect(await members.isSignedIn(client)).to.equal(false);
      await page.getByRole('button', { name: 'End all others' }).click();
      await page.getByRole('button', { name: 'End all others' }).waitFor({ state: 'detached' });
      expect(await list.count()).to.equal(1);
    }));

  it('changes the password, and stays signed in', () =>
    withPage(async (page) => {
      await addUser(service, 'new-password@example.com', 'member');
      await enter(page, 'new-password@example.com');
      await page.getByLabel('Current password').fill(PASSWORD);
      await page.getByLabel('New password').fill('another horse battery');
      await page.getByRole('button', { name: 'Change password' }).click();
      await page.getByText('Password changed.').waitFor();
      await page.reload();
      await settled(page);
      expect(new URL(page.url()).pathname).to.equal('/account');
    }));

  it('an admin sees by what each user signs in and which codes were wrong, and resets second factors', () =>
    withPage(async (page) => {
      const { email } = await members.addWithTotp('locked-out@example.com');
      await members.addWithTotp('guessed@example.com');
      await members.giveCode(await members.begin('guessed@example.com'), '000000');
      await enter(page, 'admin@example.com', '/users');
      const row = page.getByRole('row').filter({ hasText: email });
      await row.getByText('password and app code').waitFor();
      await expectAccessible(page);
      await row.getByRole('button', { name: 'Reset second factors' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Reset' }).click();
      await row.getByText('password only').waitFor();
      await page.goto(`${origin}/audit-log?tab=refusals`);
      const attempt = page.getByRole('row').filter({ hasText: 'guessed@example.com' });
      await attempt.getByText('second-factor: wrong code or passkey, after the right password').waitFor();
      expect((await members.givePassword(email)).location).to.equal('/');
    }));
});

describe('Sign-in with REQUIRE_SECOND_FACTOR', () => {
  const withPage = browserForSuite();

  it('sets up a passkey before the dashboard', async () => {
    const port = await freePort();
    const origin = `http://localhost:${port}`;
    const env = { PORT: String(port), PUBLIC_URL: origin, REQUIRE_SECOND_FACTOR: 'true' };
    const service = await startService({ dev: false, workers: 0, env });
    try {
      await addUser(service, 'first@example.com', 'admin');
      await withPage(async (page) => {
        await addAuthenticator(page);
        await page.goto(`${origin}/runs`);
        await signIn(page, 'first@example.com');
        await page.getByRole('heading', { level: 1, name: 'Set up a second factor' }).waitFor();
        await page.getByRole('img', { name: 'QR code' }).waitFor();
        expect(await violations(page)).to.deep.equal([]);
        await page.getByRole('button', { name: 'Create a passkey' }).click();
        await page.getByRole('heading', { level: 1, name: 'Keep your recovery codes' }).waitFor();
        expect(await violations(page)).to.deep.equal([]);
        await page.getByRole('link', { name: 'I have saved them' }).click();
        await page.waitForURL('**/runs');
        await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor();
      });
    } finally {
      await service.stop();
    }
  });
});
