import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { cli, cliOk } from '../support/cli.ts';
import { type Service, startService } from '../support/service.ts';

describe('tidegate send', () => {
  let service: Service;
  let folder: string;

  before(async () => {
    service = await startService({ dev: false });
    folder = mkdtempSync(join(tmpdir(), 'tidegate-cli-'));
  });
  after(async () => {
    rmSync(folder, { recursive: true });
    await service.stop();
  });

  const stored = async (id: string) => (await service.stored(id)).body.data;

  it('sends an event with its fields and prints its internal ID', async () => {
    const args = [
      'send',
      'order/paid',
      '--data',
      '{"total": 120}',
      '--id',
      'order-1',
      '--ts',
      '1700000000000',
      '--user',
      '{"id": "u1"}',
    ];
    const { stdout } = await cliOk(args, { service });
    expect(await stored(stdout.trim())).to.include({ name: 'order/paid', id: 'order-1', ts: 1_700_000_000_000 });
    expect(await stored(stdout.trim())).to.deep.include({ data: { total: 120 }, user: { id: 'u1' } });
  });

  it('takes data from a file and from stdin', async () => {
    writeFileSync(join(folder, 'order.json'), '\ufeff{"from": "file"}\n');
    const fromFile = await cliOk(['send', 'order/paid', '--data', '@order.json', '--json'], { service, cwd: folder });
    const fromStdin = await cliOk(['send', 'order/paid', '--data', '-', '--json'], {
      service,
      input: '{"from": "stdin"}',
    });
    expect((await stored(fromFile.json.ids[0])).data).to.deep.equal({ from: 'file' });
    expect((await stored(fromStdin.json.ids[0])).data).to.deep.equal({ from: 'stdin' });
  });

  it('keeps all digits of numbers, and shows them', async () => {
    const { json } = await cliOk(['send', 'order/paid', '--data', '{"n": 12345678901234567890}', '--json'], {
      service,
    });
    await stored(json.ids[0]);
    const shown = await cliOk(['events', 'get', json.ids[0], '--json'], { service });
    expect(shown.stdout).to.match(/"n": 12345678901234567890\b/);
  });

  it('sends the events of an NDJSON file or of a JSON array', async () => {
    const events = Array.from({ length: 1_200 }, (_, n) => ({ name: 'order/batch', data: { n } }));
    const lines = events.map((event) => JSON.stringify(event)).join('\n');
    const { json } = await cliOk(['send', '--batch', '-', '--json'], { service, input: `${lines}\n` });
    expect(new Set(json.ids).size).to.equal(1_200);
    expect((await stored(json.ids[1_199])).data).to.deep.equal({ n: 1_199 });
    const array = await cliOk(['send', '--batch', '-', '--json'], {
      service,
      input: JSON.stringify(events.slice(0, 2)),
    });
    expect(array.json.ids).to.have.lengthOf(2);
  });

  it('sends with the API key if there is no event key', async () => {
    const { json } = await cliOk(['send', 'order/paid', '--json'], { service, env: { TIDEGATE_EVENT_KEY: '' } });
    expect(await stored(json.ids[0])).to.include({ source: 'api' });
  });

  it('says what is wrong with its input, and exits with 2', async () => {
    for (const [args, message] of [
      [['send'], 'Name the event'],
      [['send', 'order/paid', '--data', '{oops'], '--data is not JSON'],
      [['send', 'order/paid', '--data', '@missing.json'], 'Cannot read missing.json'],
      [['send', 'order/paid', '--ts', 'soon'], 'whole number'],
      [['send', 'order/paid', '--batch', '-'], 'give no name'],
      [['sned', 'order/paid'], 'Did you mean send?'],
    ] as const) {
      const { exitCode, stderr, stdout } = await cli([...args], { service });
      expect([exitCode, stdout], stderr).to.deep.equal([2, '']);
      expect(stderr).to.include(message);
    }
  });

  it('shows the error of the service and exits with 1, with 4 for a wrong key, and with 5 without a response', async () => {
    const invalid = await cli(['send', '--batch', '-'], { service, input: '{"name": 5}' });
    expect(invalid.exitCode).to.equal(1);
    expect(invalid.stderr).to.match(/^Error: An event is invalid.*\(event_invalid\)$/m);
    const secret = 'a-wrong-event-key-0123456789';
    const unknown = await cli(['send', 'order/paid'], { service, env: { TIDEGATE_EVENT_KEY: secret } });
    expect(unknown.exitCode).to.equal(4);
    expect(unknown.stderr).to.include('Set TIDEGATE_EVENT_KEY').and.not.include(secret);
    const nobody = await cli(['send', 'order/paid', '--url', 'http://127.0.0.1:9'], { service });
    expect(nobody.exitCode).to.equal(5);
    expect(nobody.stderr).to.include('No service answers at http://127.0.0.1:9').and.include('from --url');
  });
});
