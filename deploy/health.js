/** The health check of the image: whether the process in this container answers. Asks web for /livez; a worker has no
 *  port but METRICS_PORT, where any answer will do.
 *  node deploy/health.js [web|worker]; by default what process 1 is.
 *  Neither fails while Redis or Postgres is away: a restart would not bring them back. */
import { readFileSync } from 'node:fs';

const { PORT = '8288', METRICS_PORT } = process.env;
const role = process.argv[2] ?? readFileSync('/proc/1/cmdline', 'utf8');
const isWorker = /\bworker\b/.test(role);
if (isWorker && !METRICS_PORT) {
  console.error('METRICS_PORT: not set, so a worker cannot be asked');
  process.exit(1);
}
const url = isWorker ? `http://127.0.0.1:${METRICS_PORT}/metrics` : `http://127.0.0.1:${PORT}/livez`;
try {
  const { ok, status } = await fetch(url, { signal: AbortSignal.timeout(4_000) });
  console.log(`${url}: ${status}`);
  process.exit(ok || isWorker ? 0 : 1);
} catch (error) {
  console.error(`${url}: ${error.cause?.message ?? error.message}`);
  process.exit(1);
}
