import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { until } from '../support/until.ts';
import {
  anyLives,
  QUICK,
  REQUEST,
  refusal,
  returning,
  start,
  transformChildren,
  webhook,
  withTransforms,
} from './support.ts';

const fine = () => webhook('const transform = () => ({ name: "fine" })');
const slow = () => returning('const end = Date.now() + 20; while (Date.now() < end); return { name: "slow" }');

describe('the processes that run transforms', function () {
  this.timeout(20_000);

  it('are gone when the service is closed', async () => {
    const { transforms } = start(QUICK);
    const loop = returning('while (true);');
    for (let i = 0; i < 2; i += 1) await refusal(transforms.run(loop, REQUEST));
    const children = transformChildren();
    expect(children).to.have.length(2);
    await transforms.close();
    expect(anyLives(children)).to.equal(false);
  });

  it('are gone when the service is closed while it starts', async () => {
    const { transforms } = start();
    const children = transformChildren();
    expect(children).to.have.length(1);
    const waiting = refusal(transforms.run(fine(), REQUEST));
    await transforms.close();
    expect((await waiting).code).to.equal('overloaded');
    expect(anyLives(children)).to.equal(false);
  });

  it('are gone when their parent is killed, even while a transform loops', async () => {
    const parent = spawn(process.execPath, [fileURLToPath(new URL('./looping-parent.ts', import.meta.url))], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(parent.stdout, 'data');
    const orphans = transformChildren(parent.pid);
    expect(orphans).to.have.length(1);
    parent.kill('SIGKILL');
    await until(() => !anyLives(orphans), { describe: 'the child is gone with its parent' });
  });

  it('leave a signal that is sent to all to their parent', async () => {
    await withTransforms({}, async (transforms) => {
      await transforms.run(fine(), REQUEST);
      const children = transformChildren();
      for (const pid of children) process.kill(pid, 'SIGTERM');
      expect((await transforms.run(fine(), REQUEST)).event).to.deep.equal({ name: 'fine' });
      expect(transformChildren()).to.deep.equal(children);
    });
  });

  it('may be killed by anybody: each request that was inside is tried once more', async () => {
    await withTransforms({}, async (transforms) => {
      const webhooks = Array.from({ length: 5 }, slow);
      await Promise.all(webhooks.map((webhook) => transforms.run(webhook, REQUEST)));
      const all = Promise.all(webhooks.flatMap((webhook) => [1, 2, 3].map(() => transforms.run(webhook, REQUEST))));
      await transforms.run(fine(), REQUEST);
      for (const pid of transformChildren()) process.kill(pid, 'SIGKILL');
      for (const { event } of await all) expect(event).to.deep.equal({ name: 'slow' });
    });
  });

  it('are one more while there are suspects, and one again when there are none', async () => {
    await withTransforms({ ...QUICK, idleMs: 50 }, async (transforms) => {
      const moody = returning('if (evt.loop) while (true); return {}');
      await refusal(transforms.run(moody, { ...REQUEST, body: { loop: true } }));
      await transforms.run(moody, REQUEST);
      expect(transformChildren()).to.have.length(2);
      await until(() => transformChildren().length === 1, { describe: 'the child of the suspects is gone' });
      expect((await transforms.run(moody, REQUEST)).event).to.deep.equal({});
    });
  });

  it('are given up when they cannot start, with an answer to who waits', async () => {
    await withTransforms({ bootMs: 0, timeoutMs: 100 }, async (transforms, lines) => {
      const error = await refusal(transforms.run(fine(), REQUEST));
      expect(error.code).to.equal('overloaded');
      expect(error.retryAfterSeconds).to.equal(1);
      expect(lines.some(({ msg }) => msg === 'a child for transforms could not start')).to.equal(true);
    });
  });

  it('are not missed by a service that is closed: it answers that it is busy', async () => {
    const { transforms } = start();
    await transforms.close();
    expect((await refusal(transforms.run(fine(), REQUEST))).code).to.equal('overloaded');
    expect((await refusal(transforms.check('function transform() {}'))).code).to.equal('overloaded');
    await transforms.close();
  });
});
