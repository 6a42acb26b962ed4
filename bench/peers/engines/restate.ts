/** Restate: one node as its package starts it, whose log is on disk before the next step begins. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { arch, platform } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { freePort, LOOPBACK } from '../../../scripts/lib/ports.ts';
import { ROOT } from '../../processes.ts';
import { childrenOf } from '../../usage.ts';
import type { Engine, OpenEngine } from '../engine.ts';
import { RUN } from '../functions.ts';
import { installedVersion, peerFile } from '../packages.ts';
import type { Session } from '../session.ts';

const KEEPER = join(ROOT, 'scripts/lib/redis-keeper.ts');
const PROBE_MS = 100;

export const restate: Engine = { name: 'Restate', durability: 'disk', open };

async function open(session: Session, senderPort: number): Promise<OpenEngine> {
  const [fabric, ingress, admin] = [await freePort(), await freePort(), await freePort()];
  const settings = {
    RESTATE_BIND_IP: LOOPBACK,
    RESTATE_BIND_PORT: String(fabric),
    RESTATE_INGRESS__BIND_PORT: String(ingress),
    RESTATE_ADMIN__BIND_PORT: String(admin),
    RESTATE_LISTEN_MODE: 'tcp',
    RESTATE_NODE_NAME: 'peers',
    RESTATE_BASE_DIR: session.folder(),
    RESTATE_DISABLE_TELEMETRY: 'true',
    RESTATE_LOG_FILTER: 'error,octocrab=off',
  };
  const program = peerFile(`@restatedev/restate-server-${platform()}-${arch()}`, 'bin/restate-server');
  const server = fork(KEEPER, [program, 'restate-server', '--no-logo'], {
    env: { PATH: process.env.PATH, ...settings },
    detached: true,
    stdio: ['ignore', 2, 2, 'ipc'],
  });
  const exited = once(server, 'exit');
  void exited.then(([code]) => session.lost(new Error(`restate-server ended with exit code ${code}`)));
  session.onClose(async () => {
    server.kill('SIGTERM');
    await exited;
  });
  const app = await session.startApp('restate', senderPort, { RESTATE_LOGGING: 'ERROR' });
  const post = (url: string, body: object) =>
    fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  await untilOk(session, () => post(`http://${LOOPBACK}:${admin}/deployments`, { uri: app.url }));
  const urlOf = (name: string) => `http://${LOOPBACK}:${ingress}/peers/${name}/send`;
  await untilOk(session, () => post(urlOf('plain'), { n: 0 }));
  return {
    version: `${installedVersion('@restatedev/restate-server')}, SDK ${installedVersion('@restatedev/restate-sdk')}`,
    startOf: (name) => ({ url: urlOf(name), body: `{"n":${RUN}}` }),
    processes: [
      ...childrenOf(server.pid as number).map((pid) => ({ part: 'server' as const, pid })),
      { part: 'app', pid: app.pid },
    ],
  };
}

/** It refuses connections until it has started, and runs until the app is known everywhere. */
async function untilOk(session: Session, request: () => Promise<Response>): Promise<void> {
  for (;;) {
    session.bench.signal.throwIfAborted();
    const response = await request().catch(() => undefined);
    await response?.arrayBuffer();
    if (response?.ok) return;
    await setTimeout(PROBE_MS);
  }
}
