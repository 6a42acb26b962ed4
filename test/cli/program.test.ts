import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { cli, cliOk } from '../support/cli.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const run = promisify(execFile);

describe('the command line', () => {
  let server: Server;
  let url: string;
  let responses: [status: number, body: string, headers?: Record<string, string>][];
  let requests: { method: string; authorization: string | undefined; idempotencyKey: unknown }[];

  /** Plays a service that sends these responses in turn. */
  before((done) => {
    server = createServer(({ method = '', headers }, response) => {
      requests.push({ method, authorization: headers.authorization, idempotencyKey: headers['idempotency-key'] });
      const [status, body, extra] = responses.shift() ?? [200, '{"data": []}'];
      response.writeHead(status, extra).end(body);
    });
    server.listen(0, '127.0.0.1', () => {
      url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      done();
    });
  });
  beforeEach(() => {
    responses = [];
    requests = [];
  });
  after((done) => {
    server.close(done);
  });

  const UNAVAILABLE = [503, '{"error": "Redis is unavailable.", "code": "unavailable", "status": 503}'] as const;

  it('repeats requests that are safe to repeat while the service is unavailable, with the same idempotency key', async () => {
    responses = [[...UNAVAILABLE], [...UNAVAILABLE]];
    expect((await cliOk(['events', 'list', '--json', '--url', url])).json).to.deep.equal([]);
    expect(requests).to.have.lengthOf(3);
    requests = [];
    responses = [[...UNAVAILABLE], [201, '{"data": {"name": "staging"}}']];
    await cliOk(['environments', 'create', 'staging', '--url', url, '--api-key', 'secret']);
    expect(requests.map(({ authorization }) => authorization)).to.deep.equal(['Bearer secret', 'Bearer secret']);
    expect(requests[0]?.idempotencyKey).to.be.a('string').and.equal(requests[1]?.idempotencyKey);
  });

  it('does not repeat other changes, and exits with 5', async () => {
    responses = [[...UNAVAILABLE]];
    const { exitCode, stderr } = await cli(['runs', 'cancel', '01X', '--url', url]);
    expect([exitCode, requests.length]).to.deep.equal([5, 1]);
    expect(stderr).to.equal('Error: Redis is unavailable. (unavailable)\n');
  });

  it('says when another server responds, and follows no redirect', async () => {
    responses = [
      [200, '<html>'],
      [302, '', { location: 'https://elsewhere.example' }],
    ];
    const page = await cli(['events', 'list'], { env: { SERVICE_BASE_URL: url } });
    expect(page.exitCode).to.equal(1);
    expect(page.stderr).to.include('not as Tidegate does').and.include('SERVICE_BASE_URL');
    const redirected = await cli(['events', 'list', '--url', url]);
    expect(redirected.stderr).to.include('It redirects to https://elsewhere.example');
    const wrong = await cli(['events', 'list', '--url', 'events.example.com']);
    expect([wrong.exitCode, wrong.stderr.split('\n')[0]]).to.deep.equal([
      2,
      'Error: --url is not an http(s) address: "events.example.com"',
    ]);
  });

  it('scripts/tidegate runs it in the folder of the caller, and a closed pipe is no error', async () => {
    // A clone whose dependencies are installed: this tree's may be out of date, and the script would install them.
    const clone = mkdtempSync(join(tmpdir(), 'tidegate-clone-'));
    cpSync(join(ROOT, 'scripts/tidegate'), join(clone, 'scripts/tidegate'));
    symlinkSync(join(ROOT, 'cli'), join(clone, 'cli'));
    mkdirSync(join(clone, 'node_modules/.bin'), { recursive: true });
    symlinkSync(process.execPath, join(clone, 'node_modules/.bin/node'));
    for (const lock of ['package-lock.json', 'node_modules/.installed-package-lock.json'])
      writeFileSync(join(clone, lock), '{}');
    writeFileSync(join(clone, 'order.json'), '{"total": 120}');
    const script =
      'set -o pipefail; scripts/tidegate completion bash | head -n 1; cd scripts; ./tidegate send a/b --data @../order.json';
    responses = [[200, '{"ids": ["01A"]}']];
    const { stdout, stderr } = await run('bash', ['-c', script], {
      cwd: clone,
      env: { ...process.env, TIDEGATE_URL: url },
    });
    rmSync(clone, { recursive: true });
    const first = '# Completion of tidegate for bash. Add to ~/.bashrc: source <(tidegate completion bash)';
    expect([stdout, stderr]).to.deep.equal([`${first}\n01A\n`, '']);
  });
});
