/** Registers the functions that an app announces with its connection. */

import { createHash } from 'node:crypto';
import { ServiceError } from '../../errors.ts';
import type { AppConfiguration, WorkerConnectRequest } from '../../functions/connect/messages.ts';
import { CONNECT_URL, type ConnectedApp } from '../../model/apps/connection.ts';
import { isJsonObject, isShallowJson, tryParseJson } from '../../model/values/json.ts';
import type { ConnectSession } from '../../store/connect/sessions.ts';
import type { Store } from '../../store/store.ts';
import { BY_CONNECTION, type Registrar } from '../apps/registrar.ts';
import { refusalOf } from '../apps/registration-problems.ts';
import { serviceErrorOf } from '../http/error-handler.ts';
import { TEXT_MAX_LENGTH } from './limits.ts';

export interface RegisterConnectionDeps extends Pick<Store, 'apps' | 'connections'> {
  registrar: Registrar;
}

/** @throws ServiceError registration_invalid, quota_exceeded */
export async function registerConnection(
  session: ConnectSession,
  request: WorkerConnectRequest,
  sdk: string,
  deps: RegisterConnectionDeps,
): Promise<ConnectedApp[]> {
  const given = request.apps.flatMap((app) => app ?? []);
  if (given.length === 0) throw new ServiceError('registration_invalid', { detail: 'the connection has no apps' });
  const connected: ConnectedApp[] = [];
  for (const app of given) connected.push(await registerApp(app, session, request, sdk, deps));
  return connected;
}

async function registerApp(
  app: AppConfiguration,
  { env, dialect }: ConnectSession,
  { instanceId, framework }: WorkerConnectRequest,
  sdk: string,
  { registrar, apps, connections }: RegisterConnectionDeps,
): Promise<ConnectedApp> {
  const { appName: name } = app;
  const version = app.appVersion?.slice(0, TEXT_MAX_LENGTH);
  const functionsHash = createHash('sha256')
    .update(JSON.stringify([name, version ?? '', sdk]))
    .update(app.functions)
    .digest('base64url')
    .slice(0, 22);
  const functions = functionsIn(app);
  const registered = await apps.read(env, name);
  const isRegistered =
    registered?.url === CONNECT_URL && (await connections.isReconnection(env, instanceId, functionsHash));
  const recordFailure = (error: Error) =>
    apps.recordSyncFailure(
      env,
      (app) => app.name === name,
      serviceErrorOf(error).message,
      Date.now(),
      'told',
      BY_CONNECTION,
    );
  try {
    if (!isRegistered) {
      const given = {
        url: CONNECT_URL,
        appName: name,
        sdk,
        framework: framework || 'connect',
        appVersion: version,
        functions,
      };
      const { registered, refused } = await registrar.register(
        env,
        await registrar.parse(JSON.stringify(given), dialect),
        BY_CONNECTION,
      );
      const problem = refusalOf(registered.length, refused);
      if (problem && registered.length === 0) throw problem;
      // The app's page shows the rejected functions; the other functions get their calls.
      if (problem) await recordFailure(problem);
    }
  } catch (error) {
    await recordFailure(error as Error);
    throw error;
  }
  await connections.addFunctions(env, functionsHash, functions.flatMap(idOf));
  return { name, version, functionsHash };
}

/** Configurations of the functions, without URLs. */
function functionsIn({ appName, functions }: AppConfiguration): unknown[] {
  const text = Buffer.from(functions).toString('utf8');
  const parsed = isShallowJson(text) ? tryParseJson(text) : undefined;
  if (!Array.isArray(parsed)) {
    throw new ServiceError('registration_invalid', {
      detail: `the functions of the app ${JSON.stringify(appName.slice(0, 128))} are not a JSON array`,
    });
  }
  return parsed.map(withoutUrl);
}

function withoutUrl(fn: unknown): unknown {
  if (!isJsonObject(fn) || !isJsonObject(fn.steps)) return fn;
  const steps = Object.entries(fn.steps).map(([id, step]) => [
    id,
    isJsonObject(step) ? { ...step, runtime: { type: 'ws', url: CONNECT_URL } } : step,
  ]);
  return { ...fn, steps: Object.fromEntries(steps) };
}

function idOf(fn: unknown): string[] {
  return isJsonObject(fn) && typeof fn.id === 'string' ? [fn.id] : [];
}
