/** Starts the apps of the official SDKs, each configured in the way of its SDK. */
import { resolve } from 'node:path';
import { buildGo } from '../support/go.ts';
import { type HostProgram, startHost } from '../support/program.ts';
import { installPython } from '../support/python.ts';
import type { Service } from '../support/service.ts';
import { startNpmApp } from './npm-app.ts';

const PYTHON = resolve(import.meta.dirname, '../python');
const GO = resolve(import.meta.dirname, '../go/official');

/** An app with an official SDK. */
export interface OfficialApp {
  title: string;
  /** Its id. */
  app: string;
  /** Functions of scenarios.ts that it lacks, with the reason. */
  lacks?: Record<string, string>;
  /** Installs and builds; slow the first time. */
  install(): Promise<unknown>;
  /** Some apps register at start; a PUT to its URL always registers. */
  start(service: Service): Promise<HostProgram>;
}

const npm = (app: string): OfficialApp => ({
  title: 'npm',
  app,
  install: async () => {},
  start: (service) =>
    startNpmApp(app, {
      baseUrl: service.url,
      isDev: service.dev,
      ...(!service.dev && { eventKey: service.env.EVENT_KEYS, signingKey: service.env.SIGNING_KEY }),
    }),
});

const python = (kind: 'async' | 'sync'): OfficialApp => {
  const install = () => installPython('python-hosts', resolve(PYTHON, 'requirements.txt'));
  return {
    title: `PyPI, functions that are ${kind}`,
    app: `official-py-${kind}`,
    install,
    async start(service) {
      const bin = await install();
      const env = { ...variables(service), PYTHONDONTWRITEBYTECODE: '1' };
      return startHost(`${bin}/python`, ['official_app.py', kind], { cwd: PYTHON, env });
    },
  };
};

const go = (): OfficialApp => {
  const install = () => buildGo('official', '.', GO);
  return {
    title: 'Go',
    app: 'official-go',
    lacks: { bulky: 'the SDK (0.15.1) does not fetch what a call leaves out (use_api)' },
    install,
    start: async (service) => startHost(await install(), [], { cwd: GO, env: variables(service) }),
  };
};

/** Variables of the Python and Go SDKs. The Go SDK treats any non-empty value as dev mode, even "0". */
function variables({ dev, url, env: { EVENT_KEYS = '', SIGNING_KEY = '' } }: Service): Record<string, string> {
  if (dev) return { INNGEST_DEV: url };
  return { INNGEST_DEV: '', INNGEST_BASE_URL: url, INNGEST_EVENT_KEY: EVENT_KEYS, INNGEST_SIGNING_KEY: SIGNING_KEY };
}

export const IN_DEV_MODE: OfficialApp[] = [npm('official-npm'), python('async'), python('sync'), go()];
export const IN_PRODUCTION: OfficialApp[] = [npm('official-npm'), python('async'), go()];
