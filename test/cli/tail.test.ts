import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type CliCommand, cli, cliOk, startCli } from '../support/cli.ts';
import { type Service, startService } from '../support/service.ts';

describe('tidegate tail', () => {
  let service: Service;
  let host: AppHost;
  let started: CliCommand[];

  before(async () => {
    service = await startService({ dev: false });
    host = await startAppHost();
    host.on('fails', () => ({ status: 400, body: { name: 'Oops', message: 'broken' } }));
    await host.register(service, [{ id: 'fails', triggers: [{ event: 'order/paid' }], retries: 0 }], {
      appName: 'shop',
    });
  });
  beforeEach(() => {
    started = [];
  });
  afterEach(async () => {
    for (const command of started) await command.interrupt();
  });
  after(async () => {
    await service.stop();
    await host.close();
  });

  async function tail(...args: string[]): Promise<CliCommand> {
    const command = startCli(['tail', ...args], { service });
    started.push(command);
    await command.prints('Following production at');
    return command;
  }

  const send = async (name: string, data = {}) =>
    (await service.post(service.eventPath, { name, data })).body.ids[0] as string;

  it('prints events and runs with their errors, and ends quietly on Ctrl-C', async () => {
    const command = await tail();
    const id = await send('order/paid');
    await command.prints(new RegExp(`^[\\d:.]+ {2}event {2}${id} {2}event-key {2}order/paid$`, 'm'));
    await command.prints(/^[\d:.]+ {2}run {4}01\w+ {2}Failed {2}shop-fails {2}Oops: broken$/m);
    expect(await command.interrupt()).to.equal(130);
    expect(command.stderr()).to.match(/^Following .*\n$/);
  });

  it('prints an event before its run, and the key that sent it by its name', async () => {
    const { body } = await service.post(
      '/v1/event-keys',
      { name: 'till 1', environment: 'production' },
      service.apiHeaders,
    );
    const command = await tail();
    const sent = await service.post(`/e/${body.data.secret}`, { name: 'order/paid', data: {} });
    const [id] = sent.body.ids as [string];
    const runs = await service.waitFor(`/v1/events/${id}/runs`, ({ body }) => body.data?.length === 1);
    await command.prints(new RegExp(`run {4}${runs.body.data[0].run_id} {2}Failed {2}shop-fails {2}Oops: broken`));
    const lines = command.stdout().trim().split('\n');
    const at = (text: string) => lines.findIndex((line) => line.includes(text));
    expect(at(`event  ${id}  event-key till 1  order/paid`)).to.be.within(0, at(runs.body.data[0].run_id) - 1);
    const { stdout } = await cliOk(['events', 'get', id], { service });
    expect(stdout).to.match(/^source +event-key till 1$/m);
  });

  it('filters events by name, with their data', async () => {
    const command = await tail('--name', 'user/*', '--data');
    await send('order/paid');
    await send('user/created', { email: 'ada@example.com' });
    await command.prints('{"email":"ada@example.com"}');
    expect(command.stdout()).not.to.include('order/paid').and.not.include('run');
  });

  it('filters runs by function and status', async () => {
    const command = await tail('--function', 'shop-*', '--status', 'Failed,Cancelled');
    await send('order/paid');
    await command.prints('Failed');
    expect(command.stdout().trim().split('\n')).to.have.lengthOf(1);
  });

  it('prints a line of JSON for each event and run', async () => {
    const command = startCli(['tail', '--json'], { service });
    started.push(command);
    await command.prints('{"kind":"hello"}');
    const id = await send('order/paid');
    await command.prints(new RegExp(`"kind":"event".*"internal_id":"${id}".*\n`));
    const [event] = command
      .stdout()
      .split('\n')
      .map((line) => JSON.parse(line || '{}'))
      .filter(({ kind, internal_id }) => kind === 'event' && internal_id === id);
    expect(event).to.include({ kind: 'event', name: 'order/paid', source: 'event-key' });
  });

  it('exits with 4 without a key, and with 5 when no service responds', async () => {
    expect((await cli(['tail'], { service, env: { TIDEGATE_API_KEY: '' } })).exitCode).to.equal(4);
    expect((await cli(['tail', '--url', 'http://127.0.0.1:9'])).exitCode).to.equal(5);
  });
});
