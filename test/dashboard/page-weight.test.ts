import { expect } from 'chai';
import type { Page, Response } from 'playwright-core';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { browserForSuite, open } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';
import { createFixtures } from './fixtures.ts';
import { resourcePages, STATIC_PAGES } from './pages.ts';

/** Compressed JavaScript of a page, with what it loads by itself. */
const SCRIPTS_MAX_BYTES = 160_000;

describe('dashboard page weight', () => {
  const withPage = browserForSuite();
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService();
    host = await startAppHost();
  });
  after(async () => {
    await host.close();
    await service.stop();
  });

  it('every page loads at most 160 kB of compressed JavaScript', async function () {
    this.timeout(240_000);
    const pages = [...STATIC_PAGES, ...resourcePages(await createFixtures(service, host))];
    const heavy: string[] = [];
    for (const path of pages) {
      await withPage(
        async (page) => {
          const bytes = await scriptBytes(page, service.url + path);
          expect(bytes, path).to.be.greaterThan(10_000);
          if (bytes > SCRIPTS_MAX_BYTES) heavy.push(`${path}: ${bytes}`);
        },
        // One of the fixtures is a request whose transform fails.
        { forgive: /400 .*\/v1\/transforms\/test/ },
      );
    }
    expect(heavy).to.deep.equal([]);
  });
});

async function scriptBytes(page: Page, url: string): Promise<number> {
  const scripts: Response[] = [];
  page.on('response', (answer) => {
    // Bull Board, in a frame, is not ours.
    const isOwn = answer.frame() === page.mainFrame();
    if (isOwn && new URL(answer.url()).pathname.endsWith('.js')) scripts.push(answer);
  });
  await open(page, url);
  const sizes = await Promise.all(scripts.map(async (script) => (await script.request().sizes()).responseBodySize));
  return sizes.reduce((sum, size) => sum + size, 0);
}
