/** Runs a command with two real services on their own Redis, one in dev mode and one in production mode, and a Postgres:
 *
 *      node test/support/with-services.ts pytest clients/python
 *
 *  The command's environment has their URLs and keys. Exits with the command's exit code. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { startTestPostgres } from '../../scripts/lib/test-postgres.ts';
import { startClientTestBed } from './client-test-bed.ts';
import { startOwnRedis } from './own-redis.ts';

const [program, ...args] = process.argv.slice(2);
if (!program) throw new Error('Usage: node test/support/with-services.ts <program> [argument …]');

const [redis, postgres] = await Promise.all([startOwnRedis(), startTestPostgres()]);
process.env.REDIS_URL = redis.url;
const services = await startClientTestBed();
try {
  const child = spawn(program, args, { stdio: 'inherit', env: { ...process.env, ...services.env, ...postgres.env } });
  const [code] = await once(child, 'close');
  process.exitCode = code ?? 1;
} finally {
  await services.stop();
  await Promise.all([redis.remove(), postgres.stop()]);
}
