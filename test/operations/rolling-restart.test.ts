import { expect } from 'chai';
import { listProcesses } from '../../scripts/lib/processes.ts';
import { startAppHost } from '../support/app-host.ts';
import { EVENT, Load, sendOnNewConnection } from '../support/load.ts';
import { type Service, startService } from '../support/service.ts';
import type { ServiceProcess } from '../support/service-process.ts';
import { until } from '../support/until.ts';

const COUNT = 2;
const DRAIN_SECONDS = '0.3';

const childrenOf = (parent: number) =>
  listProcesses()
    .filter((process) => process.parent === parent)
    .map(({ pid }) => pid);

describe('A rolling restart of several processes in one container (SIGUSR2 to their supervisor)', () => {
  let service: Service;
  const start = async (env: Record<string, string> = {}, options: { workers?: number; webs?: number } = {}) => {
    service = await startService({
      workers: 0,
      ...options,
      env: {
        WEB_CONCURRENCY: String(COUNT),
        SHUTDOWN_DRAIN_SECONDS: DRAIN_SECONDS,
        LOG_LEVEL: 'info',
        ...env,
      },
    });
    return service.webs[0] as ServiceProcess;
  };
  const logged = (process: ServiceProcess, message: string) => process.output().split(`"msg":"${message}"`).length - 1;
  const reload = async (group: ServiceProcess) => {
    const before = logged(group, 'all processes are replaced');
    process.kill(group.pid, 'SIGUSR2');
    await until(() => logged(group, 'all processes are replaced') > before, {
      describe: 'all are replaced',
      timeoutMs: 60_000,
    });
  };

  afterEach(() => service.stop());

  it('of web refuses and resets no connection, and /readyz responds with 200 throughout', async () => {
    const web = await start();
    const port = web.port as number;
    const load = new Load(port, service.eventPath);
    const readiness = new Set<number>();
    let isOver = false;
    const checking = (async () => {
      while (!isOver) readiness.add((await fetch(`${service.url}/readyz`)).status);
    })();
    await load.goOn();
    const before = childrenOf(web.pid);
    await reload(web);
    await load.goOn();
    isOver = true;
    await Promise.all([load.stop(), checking]);
    const after = childrenOf(web.pid);
    expect(after).to.have.length(COUNT);
    expect(after.filter((pid) => before.includes(pid))).to.deep.equal([]);
    expect(load.failures).to.deep.equal([]);
    expect([...readiness]).to.deep.equal([200]);
  });

  it('gives connections that wait for a killed process to its replacement', async () => {
    const web = await start();
    const [stopped] = childrenOf(web.pid) as [number];
    // It accepts nothing, so connections to it wait.
    process.kill(stopped, 'SIGSTOP');
    const sent = Array.from({ length: 16 }, () => sendOnNewConnection(web.port as number, service.eventPath));
    process.kill(stopped, 'SIGKILL');
    expect(await Promise.all(sent)).to.deep.equal(Array(16).fill(200));
  });

  it('keeps the old process when the new one does not become ready', async () => {
    const web = await start();
    const before = childrenOf(web.pid);
    process.kill(web.pid, 'SIGUSR2');
    const successor = await until(() => childrenOf(web.pid).find((pid) => !before.includes(pid)), {
      describe: 'the successor starts',
    });
    process.kill(successor as number, 'SIGKILL');
    await until(() => logged(web, 'not all processes are replaced') === 1, {
      describe: 'it says so',
    });
    expect(childrenOf(web.pid)).to.have.members(before);
    expect(await sendOnNewConnection(web.port as number, service.eventPath)).to.equal(200);
    await reload(web);
    expect(childrenOf(web.pid).filter((pid) => before.includes(pid))).to.deep.equal([]);
  });

  it('of workers repeats no call in progress', async () => {
    const host = await startAppHost();
    try {
      await start({ WEB_CONCURRENCY: '1', WORKER_CONCURRENCY: String(COUNT) }, { workers: 1 });
      const [worker] = service.workers as [ServiceProcess];
      host.on('f', () => ({ body: 'done' }));
      await host.register(service, [{ id: 'f', triggers: [{ event: 'load/x' }] }]);
      const ids: string[] = [];
      const send = async () => ids.push(...(await service.post('/e/key', JSON.parse(EVENT))).body.ids);
      for (let i = 0; i < 10; i++) await send();
      const reloading = reload(worker);
      for (let i = 0; i < 30; i++) await send();
      await reloading;
      for (const id of ids) {
        await service.waitFor(`/v1/events/${id}/runs`, ({ body }) => body.data?.[0]?.status === 'Completed');
      }
      expect(host.calls('f')).to.have.length(ids.length);
    } finally {
      await host.close();
    }
  });
});
