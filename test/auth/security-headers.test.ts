import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { type Service, startService } from '../support/service.ts';

describe('security headers', () => {
  let service: Service;
  before(async () => {
    service = await startService({ dev: false, workers: 0 });
  });
  after(() => service.stop());

  const policyOf = (headers: Headers) =>
    Object.fromEntries(
      (headers.get('content-security-policy') ?? '').split('; ').map((part) => {
        const [name, ...sources] = part.split(' ');
        return [name, sources];
      }),
    );

  it('every response has security headers, including errors and CORS responses', async () => {
    for (const path of [
      '/livez',
      '/sign-in',
      '/v1/events',
      '/v1/nope',
      '/docs',
      '/queues',
      '/e/nope',
      '/openapi.json',
    ]) {
      for (const headers of [{}, service.apiHeaders]) {
        const response = await service.get(path, headers);
        expect(response.headers.get('x-content-type-options'), path).to.equal('nosniff');
        expect(response.headers.get('x-frame-options'), path).to.equal('DENY');
        expect(response.headers.get('referrer-policy'), path).to.equal('same-origin');
        expect(response.headers.get('cross-origin-opener-policy'), path).to.equal('same-origin');
        expect(response.headers.get('strict-transport-security'), path).to.equal(null);
        const policy = policyOf(response.headers);
        expect(policy, path).to.deep.include({ 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] });
        if (!path.startsWith('/queues')) expect(policy, path).not.to.have.any.keys('script-src', 'connect-src');
      }
    }
  });

  it('HTML pages allow their own style and no script', async () => {
    for (const path of ['/sign-in', '/set-up?token=x', '/set-password?token=x', '/docs']) {
      const { headers, body } = await service.get(path);
      const [, css] = /<style>([\s\S]*?)<\/style>/.exec(body) ?? [];
      const hash = createHash('sha256')
        .update(css as string)
        .digest('base64');
      expect(policyOf(headers)['style-src'], path).to.deep.equal([`'sha256-${hash}'`]);
      expect(body, path).not.to.match(/<script|\son\w+=|\sstyle=|javascript:/);
    }
  });

  it('Bull Board allows its own files and nothing from other hosts', async () => {
    const { headers, body } = await service.get('/queues');
    const policy = policyOf(headers);
    expect(policy['script-src']).to.deep.equal(["'self'"]);
    expect(Object.values(policy).flat().join(' ')).not.to.match(/https?:|\*/);
    const scripts = [...body.matchAll(/<script([^>]*)>([^<]*)<\/script>/g)];
    expect(scripts.length).to.be.greaterThan(1);
    for (const [, attributes, code] of scripts) {
      // The inline data is not executed, so the policy need not allow it.
      if (code) expect(attributes).to.include('type="application/json"');
      else expect(attributes).to.match(/src="static\//);
    }
    const [, script] = /<script defer src="([^"]+)"/.exec(body) ?? [];
    expect((await service.get(`/queues/${script}`)).status).to.equal(200);
    expect((await service.get(`/queues/${script}`, {})).status).to.equal(401);
  });
});
