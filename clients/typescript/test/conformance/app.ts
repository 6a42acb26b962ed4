/** An app that hosts the functions of a case, and a fake service for it. */
import { serve } from 'tidegate/node';
import { only } from '../../../../test/conformance/cases.ts';
import type { Names } from '../../../../test/conformance/match.ts';
import { fill } from '../../../../test/conformance/match.ts';
import type { FakeService, useServers } from '../servers.ts';
import { type ClientCase, clientOf, type FunctionCase, functionOf, setEnvironment } from './options.ts';
import { NO_REPLY, PATH, REGISTERED, type ReplyCase } from './wire.ts';

export interface AppCase {
  client: ClientCase;
  environment: Record<string, string>;
  functions: FunctionCase[];
  serve?: { path?: string; serve_origin?: string };
  replies?: ReplyCase[];
}

export interface StartedApp {
  origin: string;
  service: FakeService;
  names: Names;
}

export async function startApp(
  raw: AppCase,
  { listen, startService }: ReturnType<typeof useServers>,
): Promise<StartedApp> {
  const service = await startService(...(raw.replies ?? NO_REPLY));
  const { client: options, environment, functions, serve: own = {} } = fill(raw, { service: service.url });
  only(own, ['path', 'serve_origin']);
  setEnvironment(environment);
  const client = clientOf(options);
  const origin = await listen(
    serve({
      client,
      functions: functions.map((fn) => functionOf(client, fn)),
      path: own.path,
      serveOrigin: own.serve_origin,
    }),
  );
  const names = { ...REGISTERED, service: service.url, app: origin + PATH, host: new URL(origin).host };
  return { origin, service, names };
}
