import { expect } from 'chai';
import { freePort } from '../../scripts/lib/ports.ts';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { addUser } from '../support/auth.ts';
import { violations } from '../support/axe.ts';
import { browserForSuite, navigateTo, settled, signIn } from '../support/browser.ts';
import { CLIENT, startRealProvider } from '../support/identity-providers.ts';
import { type Service, startService } from '../support/service.ts';
import { createFixtures } from './fixtures.ts';
import { resourcePages, STATIC_PAGES } from './pages.ts';

const ADMIN = 'ada@example.com';
const READER = 'reader@example.com';
/** How labels of buttons that require write access begin. */
const WRITE_ACTIONS =
  /^(create|new|change|invite|register|re-register|run check|send|resend|edit|cancel|retry|re-run|pause|resume|assign|discard|delete|remove|archive|rotate|revoke|save|invoke|rename)\b/i;
/** These change nothing in the service, or only what is one's own. */
const READ_ONLY_ACTIONS = /^\/events Pause|Send to dev server$|Change password$/;

describe('Sign-in in the dashboard', () => {
  const withPage = browserForSuite();
  let service: Service;
  let provider: Awaited<ReturnType<typeof startRealProvider>>;
  before(async () => {
    const port = await freePort();
    const publicUrl = `http://127.0.0.1:${port}`;
    provider = await startRealProvider(publicUrl, {
      olga: { email: 'olga@example.com', email_verified: true, groups: ['devs'] },
    });
    const client = { OIDC_ISSUER: provider.issuer, OIDC_CLIENT_ID: CLIENT.id, OIDC_CLIENT_SECRET: CLIENT.secret };
    const rules = { OIDC_SCOPES: 'openid email groups', OIDC_ROLE_RULES: 'devs=member', OIDC_SIGN_UP: 'first-sign-in' };
    const env = { PORT: String(port), PUBLIC_URL: publicUrl, OIDC_NAME: 'Acme', ...client, ...rules };
    service = await startService({ dev: false, env });
    await addUser(service, ADMIN, 'admin');
    await addUser(service, READER, 'read-only');
  });
  after(async () => {
    await service?.stop();
    await provider?.close();
  });

  it('signing in returns to the requested page with its filters', () =>
    withPage(async (page) => {
      await page.goto(`${service.url}/runs?status=Failed&env=production`);
      expect(new URL(page.url()).pathname).to.equal('/sign-in');
      await signIn(page, ADMIN);
      await page.waitForURL('**/runs?status=Failed&env=production');
      await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor();
    }));

  it('single sign-on returns to the requested page, and signing out ends the session at the provider', () =>
    withPage(
      async (page) => {
        await page.goto(`${service.url}/runs?status=Failed&env=production`);
        expect(await violations(page)).to.deep.equal([]);
        await page.getByRole('link', { name: 'Sign in with Acme' }).click();
        await page.getByLabel('User').fill('olga');
        await page.getByRole('button', { name: 'Continue' }).click();
        await page.waitForURL('**/runs?status=Failed&env=production');
        await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor();
        await settled(page);
        await page.getByRole('button', { name: 'Sign out' }).click();
        await page.getByRole('button', { name: 'Sign out here' }).click();
        await page.waitForURL('**/sign-in*');
        await page.getByRole('link', { name: 'Sign in with Acme' }).click();
        await page.getByLabel('User').waitFor();
      },
      // The page of the provider has no icon.
      { forgive: /favicon/ },
    ));

  it('an expired session leads to sign-in and back', () =>
    withPage(
      async (page) => {
        // Requests of the page itself could get the 401 before the click.
        await page.route(/v1\/(status|stream)/, (route) => route.fulfill({ status: 204 }));
        await page.goto(`${service.url}/environments`);
        await signIn(page, ADMIN);
        await settled(page);
        await page.context().clearCookies();
        await page.getByRole('link', { name: 'Runs', exact: true }).click();
        await page.waitForURL('**/sign-in?next=*');
        await signIn(page, ADMIN);
        await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor();
      },
      { forgive: /401/ },
    ));

  it('the audit log shows admins the rejected sign-in attempts with their count', () =>
    withPage(async (page) => {
      for (let n = 0; n < 3; n++) {
        await service.post('/auth/sign-in', { email: 'mallory@example.com', password: 'let me in' });
      }
      await page.goto(`${service.url}/audit-log`);
      await signIn(page, ADMIN);
      await page.getByRole('link', { name: 'Rejected attempts' }).click();
      const row = page.getByRole('row').filter({ hasText: 'mallory@example.com' });
      await row.getByText('sign-in: wrong email address or password').waitFor();
      await row.getByText('3', { exact: true }).waitFor();
    }));

  it('several 401 responses cause one redirect to sign-in', () =>
    withPage(
      async (page) => {
        await page.goto(`${service.url}/events`);
        await signIn(page, ADMIN);
        await settled(page);
        let redirects = 0;
        let refused = 0;
        const secondRefusal = page.waitForResponse((response) => response.status() === 401 && ++refused === 2);
        await page.route('**/sign-in?next=*', async (route) => {
          redirects += 1;
          await secondRefusal;
          await route.continue();
        });
        await page.context().clearCookies();
        await page.getByRole('link', { name: 'Runs', exact: true }).click();
        await page.waitForURL('**/sign-in?next=*');
        expect(redirects).to.equal(1);
      },
      { forgive: /401/ },
    ));

  it('signing out ends the session and leads to sign-in, even if requests are rejected meanwhile', () =>
    withPage(
      async (page) => {
        await page.goto(service.url);
        await signIn(page, ADMIN);
        await settled(page);
        // The form is held back until the session has ended and a request of the page, which polls, has been refused.
        await page.evaluate("addEventListener('submit', (event) => event.preventDefault(), { once: true })");
        await page.getByRole('button', { name: 'Sign out' }).click();
        const refused = page.waitForResponse((response) => response.status() === 401);
        await page.evaluate(() => fetch('/auth/sign-out', { method: 'POST' }));
        await refused;
        await page.evaluate('document.querySelector(\'form[action="/auth/sign-out"]\').submit()');
        await page.waitForURL('**/sign-in');
        await page.goto(`${service.url}/keys`);
        expect(new URL(page.url()).pathname).to.equal('/sign-in');
      },
      { forgive: /401/ },
    ));

  describe('with read-only access', () => {
    let host: AppHost;
    before(async () => {
      host = await startAppHost();
    });
    after(() => host.close());

    it('no page offers an enabled button that requires write access', () =>
      withPage(
        async (page) => {
          const fixtures = await createFixtures(service, host);
          await page.goto(service.url);
          await signIn(page, READER);
          const offered: string[] = [];
          for (const path of [...STATIC_PAGES, ...resourcePages(fixtures)]) {
            await navigateTo(page, path);
            const buttons = page.getByRole('main').getByRole('button', { name: WRITE_ACTIONS, disabled: false });
            offered.push(...(await buttons.allInnerTexts()).map((text) => `${path} ${text}`));
          }
          expect(offered.filter((button) => !READ_ONLY_ACTIONS.test(button)).join('\n')).to.equal('');
        },
        { forgive: /403/ },
      ));
  });
});
