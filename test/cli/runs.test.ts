import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { cli, cliOk, startCli } from '../support/cli.ts';
import { type Service, startService } from '../support/service.ts';

describe('tidegate runs and invoke', () => {
  let service: Service;
  let host: AppHost;

  before(async () => {
    service = await startService({ dev: false });
    host = await startAppHost();
    host.on('double', ({ body }) => ({ body: { doubled: body.event.data.n * 2 } }));
    host.on('fails', () => ({ status: 400, body: { name: 'Oops', message: 'broken \x1b[31m' } }));
    host.on('hangs', () => new Promise(() => {}));
    host.on('steps', ({ stepId, number, body }) => {
      const [a, b] = ['a'.repeat(40), 'b'.repeat(40)] as [string, string];
      if (stepId === a) return { status: 206, body: [{ op: 'StepRun', id: a, name: 'charge', data: 1 }] };
      if (stepId === b)
        return { status: 206, body: [{ op: 'StepFailed', id: b, name: 'mail', error: { name: 'E', message: 'no' } }] };
      const plan = (id: string, name: string) => ({ op: 'StepPlanned', id, name, displayName: name });
      return number === 0 ? { status: 206, body: [plan(a, 'charge'), plan(b, 'mail')] } : { body: body.steps };
    });
    const functions = ['double', 'fails', 'hangs', 'steps'].map((id) => ({
      id,
      triggers: [{ event: `cli/${id}` }],
      retries: 0,
    }));
    await host.register(service, functions, { appName: 'shop' });
  });
  after(async () => {
    // Its calls in flight would keep the worker.
    await host.close();
    await service.stop();
  });

  const invoke = async (id: string) =>
    (await cliOk(['invoke', 'shop', id, '--json'], { service })).json.run_id as string;

  it('invokes a function, waits for its end and prints the output', async () => {
    const { stdout, stderr } = await cliOk(['invoke', 'shop', 'double', '--data', '{"n": 21}', '--wait'], { service });
    expect(JSON.parse(stdout)).to.deep.equal({ doubled: 42 });
    expect(stderr)
      .to.match(/^run 01\w+ {2}Completed$/m)
      .and.match(/^Completed +function, attempt 1 /m);
    const whole = await cliOk(['invoke', 'shop-double', '--data', '{"n": 1}', '--wait', '--json'], { service });
    expect(whole.json).to.deep.include({ function_id: 'shop-double', status: 'Completed', output: { doubled: 2 } });
    expect(whole.stderr).to.equal('');
  });

  it('exits with 1 when the run fails, with 3 without such a function, and with 6 when it does not end in time', async () => {
    const failed = await cli(['invoke', 'shop', 'fails', '--wait'], { service });
    expect(failed.exitCode).to.equal(1);
    expect(failed.stderr).to.match(/^Error: The run 01\w+ ended as Failed: Oops: broken \\u001b\[31m$/m);
    expect((await cli(['invoke', 'shop', 'missing'], { service })).exitCode).to.equal(3);
    const slow = await cli(['invoke', 'shop', 'hangs', '--wait', '--timeout', '1s'], { service });
    expect(slow.exitCode).to.equal(6);
    expect(slow.stderr)
      .to.match(/is still \w+ after 1 s$/m)
      .and.match(/^It goes on: tidegate runs watch 01/m);
  });

  it('shows the log of a run, without control characters', async () => {
    const id = await invoke('double');
    const none = await cliOk(['runs', 'logs', id], { service });
    expect(none.stdout).to.include('Nothing was logged.');
    const lines = [
      { at: 0, level: 'info', message: 'red \x1b[31m', fields: { total: 3 } },
      { at: 7, level: 'warn', message: 'slow' },
    ];
    await service.post(`/v0/runs/${id}/logs`, { batch: 'b', attempt: 0, lines }, service.appHeaders);
    const { stdout } = await cliOk(['runs', 'logs', id], { service });
    expect(stdout)
      .to.include('1970-01-01T00:00:00.000Z  info   red \\u001b[31m  {"total":3}')
      .and.include('warn   slow');
    const warned = await cliOk(['runs', 'logs', id, '--level', 'warn', '--json'], { service });
    expect(warned.json.map(({ message }: { message: string }) => message)).to.deep.equal(['slow']);
  });

  it('lists and shows runs', async () => {
    const id = await invoke('fails');
    await service.waitFor(`/v1/runs/${id}`, ({ body }) => body.data.status === 'Failed');
    const list = await cliOk(['runs', 'list', '--status', 'Failed', '--function', 'shop-fails', '--since', '1h'], {
      service,
    });
    expect(list.stdout).to.match(new RegExp(`^${id}  shop-fails  Failed .* Oops: broken  \\[31m$`, 'm'));
    const { stdout } = await cliOk(['runs', 'get', id], { service });
    expect(stdout)
      .to.match(/^function +shop-fails$/m)
      .and.match(/^function, attempt 1 +Failed .*Oops/m);
    const { json } = await cliOk(['runs', 'list', '--app', 'shop', '--limit', '2', '--json'], { service });
    expect(json).to.have.lengthOf(2);
  });

  it('shows each step by its name, without terms of the protocol', async () => {
    const id = await invoke('steps');
    await service.waitFor(`/v1/runs/${id}`, ({ body }) => body.data.status === 'Completed');
    const { stdout } = await cliOk(['runs', 'get', id], { service });
    const rows = stdout.slice(stdout.indexOf('ATTEMPT OR STEP')).trim().split('\n').slice(1);
    expect(rows.map((row) => row.split(/ {2,}/).slice(0, 2)).sort()).to.deep.equal([
      ['charge (step)', 'Completed'],
      ['mail (step)', 'Failed'],
    ]);
  });

  it('follows a run until somebody cancels it', async () => {
    const id = await invoke('hangs');
    const watching = startCli(['runs', 'watch', id], { service });
    await service.waitFor(`/v1/runs/${id}`, ({ body }) => body.data.status === 'Running');
    const cancelled = await cliOk(['runs', 'cancel', id], { service });
    expect(cancelled.stdout).to.equal(`${id}  Cancelled\n`);
    expect(await watching.exitCode).to.equal(1);
    expect(watching.stderr()).to.include(`The run ${id} ended as Cancelled`);
  });

  it('ends quietly on Ctrl-C', async () => {
    const id = await invoke('hangs');
    const watching = startCli(['runs', 'watch', id], { service });
    await watching.prints(`run ${id}  Running`);
    expect(await watching.interrupt()).to.equal(130);
    expect(watching.stdout()).to.equal('');
    expect(watching.stderr()).to.match(/^(run 01\w+ {2}\w+\n)+$/);
  });

  it('re-runs several runs, each as a new run', async () => {
    const ids = [await invoke('fails'), await invoke('fails')];
    for (const id of ids) await service.waitFor(`/v1/runs/${id}`, ({ body }) => body.data.status === 'Failed');
    const { stdout } = await cliOk(['runs', 'retry', ...ids, '--json'], { service });
    const again = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(again.map(({ retry_of }) => retry_of)).to.deep.equal(ids);
    const active = await cli(['runs', 'retry', await invoke('hangs')], { service });
    expect(active.exitCode).to.equal(1);
    expect(active.stderr).to.include('(run_active)');
  });

  it('cancels and re-runs runs by filter, after counting them', async () => {
    const ids = [await invoke('hangs'), await invoke('hangs')];
    for (const id of ids) await service.waitFor(`/v1/runs/${id}`, ({ body }) => body.data.status === 'Running');
    const { stdout } = await cliOk(['runs', 'cancel', '--function', 'shop-hangs', '--dry-run'], { service });
    const count = Number(/^shop-hangs +(\d+)$/m.exec(stdout)?.[1]);
    expect(count).to.be.at.least(2);
    const asked = await cli(['runs', 'cancel', '--function', 'shop-hangs'], { service });
    expect([asked.exitCode, asked.stderr.includes(`Cancel ${count} runs in production? Add --yes`)]).to.deep.equal([
      2,
      true,
    ]);
    const cancelled = await cliOk(['runs', 'cancel', '--function', 'shop-hangs', '--yes', '--json'], { service });
    expect(cancelled.json).to.deep.include({ action: 'cancel', status: 'done' });
    for (const id of ids) expect((await service.get(`/v1/runs/${id}`)).body.data.status).to.equal('Cancelled');
    const counted = await cliOk(['runs', 'retry', '--function', 'shop-fails', '--status', 'Failed', '--dry-run'], {
      service,
    });
    expect(counted.stdout).to.match(/^2 left out: already_rerun\n--include-already-rerun /m);
    const again = await cliOk(['runs', 'retry', '--function', 'shop-fails', '--status', 'Failed', '--yes'], {
      service,
    });
    expect(again.stdout).to.match(/^01\w+ {2}done; \d+ of \d+ re-run/m);
    for (const args of [[], [ids[0] as string, '--status', 'Failed']]) {
      expect((await cli(['runs', 'retry', ...args], { service })).exitCode).to.equal(2);
    }
  });
});
