import { expect } from 'chai';
import { request } from '../support/http.ts';
import { type Service, startService } from '../support/service.ts';

const LINK = /\]\(([^)\s]+)\)/g;
const PUBLIC_URL = 'https://tidegate.example.com';

describe('The docs of the running version', () => {
  let service: Service;
  before(async () => {
    service = await startService({ workers: 0, dev: false, env: { PUBLIC_URL } });
  });
  after(() => service.stop());

  const get = (path: string) => request('GET', service.url + path);

  it('are listed at /llms.txt, and each page is served as Markdown, to anybody', async () => {
    const { status, headers, body } = await get('/llms.txt');
    expect([status, headers.get('content-type')]).to.deep.equal([200, 'text/plain; charset=utf-8']);
    expect(body).to.match(/^# Tidegate\n\n> \S/);
    const pages = Array.from((body as string).matchAll(LINK), ([, path]) => path as string);
    expect(pages).to.include.members(['/docs/events.md', '/docs/webhooks.md', '/docs/settings.md', '/openapi.json']);
    for (const path of pages.filter((path) => path.endsWith('.md'))) {
      const page = await get(path);
      expect([path, page.status, page.headers.get('content-type')]).to.deep.equal([
        path,
        200,
        'text/markdown; charset=utf-8',
      ]);
      expect(page.body, path).to.match(/^# \S/m);
    }
  });

  it('link to each other and to the repository, and have the URL of the service in their examples', async () => {
    const index = (await get('/llms.txt')).body as string;
    const paths = Array.from(index.matchAll(LINK), ([, path]) => path as string).filter((path) => path.endsWith('.md'));
    const known = new Set(paths);
    let examples = 0;
    for (const path of paths) {
      const body = (await get(path)).body as string;
      expect(body, path).not.to.include('http://127.0.0.1:8288');
      examples += body.split(PUBLIC_URL).length - 1;
      for (const [, link = ''] of body.matchAll(LINK)) {
        if (/^(?:https?:|mailto:|#|pictures\/)/.test(link)) continue;
        const target = new URL(link, `http://x${path}`).pathname;
        expect(target.endsWith('.md') ? known : ['/docs', '/openapi.json'], `${link} in ${path}`).to.include(target);
      }
    }
    expect(examples).to.be.greaterThan(20);
  });

  it('are nothing but the pages', async () => {
    for (const name of [
      'none.md',
      '..%2Fpackage.json',
      '%2e%2e%2fREADME.md',
      'decisions',
      'llms.txt%00',
      'README.md',
    ]) {
      expect((await get(`/docs/${name}`)).status, name).to.be.oneOf([400, 404]);
    }
  });
});
