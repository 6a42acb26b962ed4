/** DBOS: a library in the app's process, on a Postgres whose commits are on disk before they are confirmed. */
import { findPostgres } from '../../../scripts/lib/postgres-program.ts';
import { startPostgres } from '../../../scripts/lib/postgres-server.ts';
import { POSTGRES_SETTINGS } from '../../bed-archive.ts';
import type { Engine, OpenEngine } from '../engine.ts';
import { RUN } from '../functions.ts';
import { installedVersion } from '../packages.ts';
import type { Session } from '../session.ts';

export const dbos: Engine = { name: 'DBOS', durability: 'disk', open };

async function open(session: Session, senderPort: number): Promise<OpenEngine> {
  const program = findPostgres();
  const postgres = await startPostgres(program, session.folder(), { settings: POSTGRES_SETTINGS });
  session.onClose(() => postgres.stop());
  const app = await session.startApp('dbos', senderPort, { DATABASE_URL: postgres.url });
  return {
    version: `${installedVersion('@dbos-inc/dbos-sdk')}, Postgres ${program.major}`,
    startOf: (name) => ({ url: `${app.url}/${name}`, body: `{"n":${RUN}}` }),
    processes: [
      { part: 'app', pid: app.pid },
      { part: 'store', pid: postgres.pid() as number },
    ],
  };
}
