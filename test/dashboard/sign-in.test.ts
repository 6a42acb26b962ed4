import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { addUser } from '../support/auth.ts';
import { browserForSuite, open, settled, signIn } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';
import { makeThings } from './fixtures.ts';
import { PLACES, pagesOf } from './pages.ts';

const ADMIN = 'ada@example.com';
const READER = 'reader@example.com';
/** What only somebody with write access may do, as buttons begin. */
const DEEDS =
  /^(make|create|new|invite|register|send|edit|cancel|retry|run again|pause|resume|assign|discard|delete|remove|archive|rotate|revoke|save|invoke|rename)\b/i;
/** They change nothing here: the tail of the events, and a copy to a service of the reader's own. */
const HARMLESS = /^\/events Pause|Send to dev server$/;

describe('the dashboard outside dev mode', () => {
  const visit = browserForSuite();
  let service: Service;
  before(async () => {
    service = await startService({ dev: false });
    await addUser(service, ADMIN, 'admin');
    await addUser(service, READER, 'read-only');
  });
  after(() => service.stop());

  it('asks who is there, and then shows the page that was wanted, filters and all', () =>
    visit(async (page) => {
      await page.goto(`${service.url}/runs?status=Failed&env=production`);
      expect(new URL(page.url()).pathname).to.equal('/sign-in');
      await signIn(page, ADMIN);
      await page.waitForURL('**/runs?status=Failed&env=production');
      await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor();
    }));

  it('asks again when the session has ended meanwhile, and comes back', () =>
    visit(
      async (page) => {
        await page.goto(`${service.url}/events?name=order%2Fplaced`);
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

  it('shows an admin whose attempts to sign in were refused, and how often', () =>
    visit(async (page) => {
      for (let n = 0; n < 3; n++) {
        await service.post('/auth/sign-in', { email: 'mallory@example.com', password: 'let me in' });
      }
      await page.goto(`${service.url}/audit-log`);
      await signIn(page, ADMIN);
      await page.getByRole('link', { name: 'Refused attempts' }).click();
      const row = page.getByRole('row').filter({ hasText: 'mallory@example.com' });
      await row.getByText('sign-in: wrong email address or password').waitFor();
      await row.getByText('3', { exact: true }).waitFor();
    }));

  it('leads to signing in once, however many requests are refused', () =>
    visit(
      async (page) => {
        await page.goto(`${service.url}/events`);
        await signIn(page, ADMIN);
        await settled(page);
        let led = 0;
        let refused = 0;
        const secondRefusal = page.waitForResponse((answer) => answer.status() === 401 && ++refused === 2);
        await page.route('**/sign-in?next=*', async (route) => {
          led += 1;
          await secondRefusal;
          await route.continue();
        });
        await page.context().clearCookies();
        await page.getByRole('link', { name: 'Runs', exact: true }).click();
        await page.waitForURL('**/sign-in?next=*');
        expect(led).to.equal(1);
      },
      { forgive: /401/ },
    ));

  it('is left by signing out', () =>
    visit(async (page) => {
      await page.goto(service.url);
      await signIn(page, ADMIN);
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.waitForURL('**/sign-in');
      await page.goto(`${service.url}/keys`);
      expect(new URL(page.url()).pathname).to.equal('/sign-in');
    }));

  describe('for somebody who may only read', () => {
    let host: AppHost;
    before(async () => {
      host = await startAppHost();
    });
    after(() => host.close());

    it('offers nothing on any page that they may not do', () =>
      visit(
        async (page) => {
          const things = await makeThings(service, host);
          await page.goto(service.url);
          await signIn(page, READER);
          const offered: string[] = [];
          for (const path of [...PLACES, ...pagesOf(things)]) {
            await open(page, service.url + path);
            const doors = page.getByRole('main').getByRole('button', { name: DEEDS, disabled: false });
            offered.push(...(await doors.allInnerTexts()).map((text) => `${path} ${text}`));
          }
          expect(offered.filter((door) => !HARMLESS.test(door)).join('\n')).to.equal('');
        },
        { forgive: /403/ },
      )).timeout(60_000);
  });
});
