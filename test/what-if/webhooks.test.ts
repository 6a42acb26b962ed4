import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { cli } from '../support/cli.ts';
import { deliver, makeWebhook } from '../support/logged-webhooks.ts';
import { type Service, startService } from '../support/service.ts';

const TRANSFORM = (name: string) => `function transform(body) { return { name: ${name}, data: { n: body.n } } }`;
const REQUESTS = 6;

describe('tidegate what-if --webhooks', () => {
  let service: Service;
  let folder: string;

  before(async () => {
    service = await startService();
    folder = mkdtempSync(join(tmpdir(), 'tidegate-what-if-'));
    const webhook = await makeWebhook(service, { name: 'Shop', transform: TRANSFORM("'shop/order'") });
    await deliver(
      service,
      webhook,
      Array.from({ length: REQUESTS }, (_, n) => ({ n })),
    );
  });
  after(async () => {
    rmSync(folder, { recursive: true });
    await service.stop();
  });

  /** `more` is YAML of the webhook. */
  async function whatIf(transform: string, more: string[], ...args: string[]) {
    writeFileSync(join(folder, 'shop.js'), transform);
    const lines = ['version: 1', 'webhooks:', '  - name: Shop', '    transform: { file: shop.js }'];
    writeFileSync(join(folder, 'tidegate.yaml'), [...lines, ...more.map((line) => `    ${line}`)].join('\n'));
    return cli([...args, 'what-if', '--webhooks', folder], { service });
  }

  it('compares nothing if filter and transform are the same', async () => {
    const { json, exitCode, stderr } = await whatIf(TRANSFORM("'shop/order'"), [], '--json');
    expect(exitCode, stderr).to.equal(0);
    expect(json).to.deep.include({ checked: 0, broken: 0 });
    expect(json.not_compared).to.deep.equal([{ webhook: 'Shop (production)', because: 'same' }]);
  });

  it('shows which requests would make another event, or none, with an example each', async () => {
    const named = TRANSFORM("body.n > 1 ? 'shop/order' : 'shop/small'");
    const { stdout, stderr, exitCode } = await whatIf(named, ['filter: body.n < 4']);
    expect(stdout, stderr).to.include('"Shop (production)": 2 of the newest 6 requests as before (6 in all)');
    expect(stdout).to.include('  2 no longer make an event, such as ').and.include('  2 make another event, such as ');
    expect(stdout).to.include(
      '6 requests of 1 webhooks whose filter or transform differs: 2 unchanged, 4 changed, 0 broken.',
    );
    expect(exitCode).to.equal(0);
  });

  it('exits with 7 if a request is rejected or the transform cannot be used, and makes no event', async () => {
    const throws = `function transform(body) { if (body.n === 3) throw new Error('three'); return { name: 'shop/order', data: { n: body.n } } }`;
    const rejected = await whatIf(throws, [], '--json');
    expect([rejected.exitCode, rejected.json.broken]).to.deep.equal([7, 1]);
    expect(rejected.json.webhooks[0].examples[0]).to.deep.include({ change: 'error' });
    const invalid = await whatIf('function (', []);
    expect([invalid.exitCode, invalid.stdout]).to.satisfy(
      ([code, text]: [number, string]) => code === 7 && text.includes('"Shop (production)": cannot be used: '),
    );
    const { body } = await service.get('/v1/events?limit=100');
    expect(body.data).to.have.length(REQUESTS);
  });

  it('is given either an app or a file', async () => {
    const neither = await cli(['what-if'], { service });
    expect([neither.exitCode, neither.stderr]).to.satisfy(
      ([code, text]: [number, string]) => code === 2 && text.includes('Give --app <url> or --webhooks <file>'),
    );
  });
});
