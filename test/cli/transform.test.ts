import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type CliCommand, cli, cliOk, startCli } from '../support/cli.ts';
import { request } from '../support/http.ts';
import { type Service, startService } from '../support/service.ts';

const GOOD = `function transform(evt, headers, queryParams) {
  console.log('kind', headers['X-Kind']);
  return { name: 'test/' + evt.kind, data: { page: queryParams.page ?? null } };
}`;

describe('tidegate transform test', () => {
  let service: Service;
  let folder: string;
  let watching: CliCommand | undefined;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tidegate-transform-'));
    service = await startService({ dev: false, workers: 0 });
  });
  after(async () => {
    watching?.child.kill('SIGKILL');
    rmSync(folder, { recursive: true });
    await service.stop();
  });

  function write(name: string, content: string | object): string {
    const path = join(folder, name);
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  }

  const test = (...args: string[]) => cli(['transform', 'test', ...args], { service });

  it('prints the events and the console output of a transform on the request of a file', async () => {
    const file = write('good.js', GOOD);
    const sample = write('sample.json', { body: { kind: 'a' }, headers: { 'x-kind': 'K' }, query: { page: '2' } });
    const { exitCode, stdout } = await test(file, '--request', sample);
    expect(exitCode).to.equal(0);
    expect(stdout).to.match(
      /^1 event in \d+\.\d ms {2}\S+sample\.json\n {2}console\.log: kind K\n {2}\{\n {4}"name": "test\/a"/,
    );
    expect(stdout).to.include('"page": [\n        "2"');
    const raw = write('raw.json', '{"kind": "raw"}');
    const { json } = await cliOk(['transform', 'test', file, '--request', raw, '--json'], { service });
    expect(json).to.include({ ok: true }).and.have.nested.property('result.event.name', 'test/raw');
    const filtered = await test(file, '--request', sample, '--filter', 'body.kind == "b"');
    expect([filtered.exitCode, filtered.stdout]).to.satisfy(([code, text]: [number, string]) => {
      return code === 0 && text.startsWith('filtered: the request does not meet the filter');
    });
  });

  it('exits with 1 when the transform fails, and says at which line', async () => {
    const file = write('throws.js', "function transform() {\n  console.log('before');\n  throw new Error('no');\n}");
    const { exitCode, stdout } = await test(file);
    expect(exitCode).to.equal(1);
    expect(stdout)
      .to.match(/^failed at \S+throws\.js:3:\d+ /)
      .and.include('console.log: before')
      .and.include('no');
    const broken = await test(write('broken.js', 'function transform( {\n'));
    expect(broken.exitCode).to.equal(1);
    expect(broken.stdout)
      .to.match(/^failed at \S+broken\.js:\d+:\d+/)
      .and.include('transform_invalid');
  });

  it('tries the code on the last requests of a webhook, by its name', async () => {
    const { body } = await service.post('/v1/webhooks', { name: 'Tried', transform: GOOD }, service.apiHeaders);
    const { id, url } = body.data;
    for (const kind of ['x', 'y', 'z'])
      await request('POST', `${url}?page=${kind}`, { body: JSON.stringify({ kind }) });
    await service.waitFor(`/v1/webhooks/${id}/requests`, ({ body }) => body.data.length === 3);
    const file = write('draft.js', "const transform = (evt) => ({ name: 'draft/' + evt.kind, data: evt });");
    const { json } = await cliOk(['transform', 'test', file, '--webhook', 'Tried', '--last', '2', '--json'], {
      service,
    });
    const names = json.map(({ result }: { result: { event: { name: string } } }) => result.event.name);
    expect(names).to.deep.equal(['draft/z', 'draft/y']);
    const one = ['--webhook', id, '--request-id', json[1].request];
    expect((await test(file, ...one)).stdout).to.include('"name": "draft/y"');
    const both = await test(file, '--webhook', id, '--request', file);
    expect(both.exitCode).to.equal(2);
  });

  it('--watch tries it again when the file changes', async () => {
    const file = write('watched.js', "const transform = () => ({ name: 'watch/one', data: {} });");
    watching = startCli(['transform', 'test', file, '--watch'], { service });
    await watching.prints('watch/one');
    write('watched.js', "const transform = () => ({ name: 'watch/two', data: {} });");
    await watching.prints('watch/two');
    expect(await watching.interrupt()).to.equal(130);
  });
});
