/** Services for the test suites of clients in other languages. */
import { type Service, startService } from './service.ts';

export interface ClientTestBed {
  dev: Service;
  production: Service;
  /** Environment variables of the suite's process. */
  env: Record<string, string>;
  stop(): Promise<void>;
}

/** Both services have short retry delays: 1/2,000 of the schedule. */
export async function startClientTestBed(): Promise<ClientTestBed> {
  const env = { RETRY_SCALE: '0.0005' };
  const dev = await startService({ env });
  const production = await startService({ env, dev: false });
  const { EVENT_KEYS = '', SIGNING_KEY = '', API_KEY = '' } = production.env;
  return {
    dev,
    production,
    env: {
      TEST_DEV_SERVICE: dev.url,
      TEST_PRODUCTION_SERVICE: production.url,
      TEST_EVENT_KEY: EVENT_KEYS,
      TEST_SIGNING_KEY: SIGNING_KEY,
      TEST_API_KEY: API_KEY,
    },
    async stop() {
      await dev.stop();
      await production.stop();
    },
  };
}
