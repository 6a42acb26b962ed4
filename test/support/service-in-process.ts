/** Web or worker in the process of the tests. It is ready in a tenth of the CPU time that a process of its own takes, and ends in order only: what
 *  kills, signals or measures a process starts a real one (service-process.ts). */
import type { Running, StartOptions } from '../../src/composition/start-options.ts';
import { readConfig } from '../../src/config.ts';
import { createLog } from '../../src/log.ts';
import type { Role, ServiceProcess } from './service-process.ts';

const END_MS = 30_000;
const NO_PROCESS = 'This service has no processes of its own: start it with `processes: true`';

/** Resolves when it is ready. @throws with its log if it cannot start */
export async function startInProcess(role: Role, env: Record<string, string>): Promise<ServiceProcess> {
  let output = '';
  const write = (text: string) => {
    output += text;
  };
  const problem = (what: string) => new Error(`${role} ${what}. Its log:\n${output.trim() || '(nothing)'}`);
  let failure: Error | undefined;
  // Until it has ended: suites keep what they start, and a service of 9 MB would cost the garbage collector time until the last of them.
  let service: Running | undefined;
  let ending: Promise<void> | undefined;
  let hasEnded = false;
  const end = () => {
    ending ??= service?.close().finally(() => {
      hasEnded = true;
      service = undefined;
    });
    return ending;
  };
  const start = async (): Promise<Running> => {
    const config = readConfig(env);
    const log = createLog(config.logLevel, role, undefined, { write });
    const startRole = await load(role);
    // As a process does (src/process.ts).
    const onFailure = (error: Error) => {
      failure = error;
      log.fatal({ err: error.message }, 'cannot go on');
      void end();
    };
    return startRole({ config, log, onFailure });
  };
  service = await start().catch((error: Error) => {
    write(`${error.name}: ${error.message}`);
    throw problem('ended before it was ready');
  });
  return {
    role,
    ...portsOf(service),
    get pid(): number {
      throw new Error(NO_PROCESS);
    },
    output: () => output.trim(),
    running: () => !hasEnded,
    kill: () => Promise.reject(new Error(NO_PROCESS)),
    async stop() {
      if (failure) throw problem(`had already ended (${failure.message})`);
      const late = Promise.withResolvers<never>();
      const timer = setTimeout(() => late.reject(problem(`did not end in order within ${END_MS} ms`)), END_MS);
      await Promise.race([end(), late.promise]).finally(() => clearTimeout(timer));
    },
  };
}

function portsOf({ ports: { port, metricsPort } }: Running): Pick<ServiceProcess, 'port' | 'metricsPort'> {
  return { port, metricsPort };
}

/** When the first test needs it: some need neither. */
async function load(role: Role): Promise<(options: StartOptions) => Promise<Running>> {
  return role === 'web'
    ? (await import('../../src/composition/start-web.ts')).startWeb
    : (await import('../../src/composition/start-worker.ts')).startWorker;
}
