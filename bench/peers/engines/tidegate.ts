/** Tidegate in production mode: one web process, one worker, and Redis, with its own client or with the npm package inngest. */
import root from '../../../package.json' with { type: 'json' };
import { ROOT } from '../../processes.ts';
import { SECRETS } from '../../service.ts';
import { openTestBed } from '../../test-bed.ts';
import type { Engine, OpenEngine } from '../engine.ts';
import { RUN } from '../functions.ts';
import { installedVersion } from '../packages.ts';
import type { Durability, Part } from '../results.ts';
import type { Session } from '../session.ts';

interface Setup {
  durability: Durability;
  app: 'tidegate' | 'inngest';
  env?: Record<string, string>;
}

const own = { app: 'tidegate' } as const;
const npm = { app: 'inngest' } as const;

export const TIDEGATE: readonly Engine[] = [
  engine('Tidegate', { ...own, durability: 'second' }),
  engine('Tidegate, appendfsync always', { ...own, durability: 'disk' }),
  engine('Tidegate with npm inngest', { ...npm, durability: 'second' }),
  engine('Tidegate with npm inngest, appendfsync always', { ...npm, durability: 'disk' }),
  engine('Tidegate with npm inngest, no checkpoints', {
    ...npm,
    durability: 'second',
    env: { CHECKPOINTING: 'off' },
  }),
  engine('Tidegate with npm inngest, 10 steps a checkpoint', {
    ...npm,
    durability: 'checkpoint',
    env: { CHECKPOINTING: '10' },
  }),
];

function engine(name: string, { durability, app: appName, env = {} }: Setup): Engine {
  const open = async (session: Session, senderPort: number): Promise<OpenEngine> => {
    const testBed = await openTestBed(session.bench, {});
    session.onClose(() => testBed.close());
    // Web reads it when it starts, and acknowledges events accordingly.
    if (durability === 'disk') await testBed.redis.config('SET', 'appendfsync', 'always');
    await testBed.open();
    await testBed.startWorker();
    const app = await session.startApp(appName, senderPort, {
      SERVICE_BASE_URL: testBed.service.url,
      SERVICE_EVENT_KEY: SECRETS.EVENT_KEYS,
      SERVICE_SIGNING_KEY: SECRETS.SIGNING_KEY,
      ...env,
    });
    const registered = await fetch(`${app.url}/api/peers`, { method: 'PUT' });
    if (!registered.ok) throw new Error(`The app could not register: ${await registered.text()}`);
    // Transform children are descendants of web.
    const parts = testBed.pids().filter(({ kind }) => kind !== 'transforms');
    const version =
      appName === 'inngest' ? `${root.version}, inngest ${installedVersion('inngest', ROOT)}` : root.version;
    return {
      version,
      startOf: (name) => ({ url: testBed.service.eventUrl, body: `{"name":"peers/${name}","data":{"n":${RUN}}}` }),
      processes: [
        ...parts.map(({ kind, pid }): { part: Part; pid: number } => ({
          part: kind === 'redis' ? 'store' : 'server',
          pid,
        })),
        { part: 'app', pid: app.pid },
      ],
    };
  };
  return { name, durability, open };
}
