import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { until } from '../support/until.ts';
import {
  anyAlive,
  errorOf,
  QUICK,
  REQUEST,
  returning,
  start,
  transformChildren,
  webhook,
  withTransforms,
} from './support.ts';

const fine = () => webhook('const transform = () => ({ name: "fine" })');
const slow = () => returning('const end = Date.now() + 20; while (Date.now() < end); return { name: "slow" }');

describe('Transform processes', () => {
  it('exit when the service closes', async () => {
    const { transforms } = start(QUICK);
    const loop = returning('while (true);');
    for (let i = 0; i < 2; i += 1) await errorOf(transforms.run(loop, REQUEST));
    const children = transformChildren();
    expect(children).to.have.length(2);
    await transforms.close();
    expect(anyAlive(children)).to.equal(false);
  });

  it('exit when the service closes while they start', async () => {
    const { transforms } = start();
    const children = transformChildren();
    expect(children).to.have.length(1);
    const queued = errorOf(transforms.run(fine(), REQUEST));
    await transforms.close();
    expect((await queued).code).to.equal('overloaded');
    expect(anyAlive(children)).to.equal(false);
  });

  it('exit when their parent is killed, even while a transform loops', async () => {
    const parent = spawn(process.execPath, [fileURLToPath(new URL('./looping-parent.ts', import.meta.url))], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(parent.stdout, 'data');
    const orphans = transformChildren(parent.pid);
    expect(orphans).to.have.length(1);
    parent.kill('SIGKILL');
    await until(() => !anyAlive(orphans), { describe: 'the child process has exited' });
  });

  it('ignore SIGTERM: their parent decides when they end', async () => {
    await withTransforms({}, async (transforms) => {
      await transforms.run(fine(), REQUEST);
      const children = transformChildren();
      for (const pid of children) process.kill(pid, 'SIGTERM');
      expect((await transforms.run(fine(), REQUEST)).returned).to.deep.equal({ name: 'fine' });
      expect(transformChildren()).to.deep.equal(children);
    });
  });

  it('retry each request that was inside when something kills them', async () => {
    await withTransforms({}, async (transforms) => {
      const webhooks = Array.from({ length: 5 }, slow);
      await Promise.all(webhooks.map((webhook) => transforms.run(webhook, REQUEST)));
      const all = Promise.all(webhooks.flatMap((webhook) => [1, 2, 3].map(() => transforms.run(webhook, REQUEST))));
      await transforms.run(fine(), REQUEST);
      for (const pid of transformChildren()) process.kill(pid, 'SIGKILL');
      for (const { returned: event } of await all) expect(event).to.deep.equal({ name: 'slow' });
    });
  });

  it('include one more for suspects, which ends when there are no suspects', async () => {
    await withTransforms({ ...QUICK, idleTimeoutMs: 50 }, async (transforms) => {
      const moody = returning('if (evt.loop) while (true); return {}');
      await errorOf(transforms.run(moody, { ...REQUEST, body: { loop: true } }));
      await transforms.run(moody, REQUEST);
      expect(transformChildren()).to.have.length(2);
      await until(() => transformChildren().length === 1, { describe: 'the process for suspects has exited' });
      expect((await transforms.run(moody, REQUEST)).returned).to.deep.equal({});
    });
  });

  it('respond with 503 to queued requests when they cannot start', async () => {
    await withTransforms({ startTimeoutMs: 0, timeoutMs: 100 }, async (transforms, lines) => {
      const error = await errorOf(transforms.run(fine(), REQUEST));
      expect(error.code).to.equal('overloaded');
      expect(error.retryAfterSeconds).to.equal(1);
      expect(lines.some(({ msg }) => msg === 'transform process did not start')).to.equal(true);
    });
  });

  it('are not forked by a closed service: requests get 503', async () => {
    const { transforms } = start();
    await transforms.close();
    expect((await errorOf(transforms.run(fine(), REQUEST))).code).to.equal('overloaded');
    expect((await errorOf(transforms.check('function transform() {}'))).code).to.equal('overloaded');
    await transforms.close();
  });
});
