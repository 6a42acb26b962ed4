/** The apps of the official SDKs, each connected to a service as its SDK wants it. */
import { resolve } from 'node:path';
import { type HostProgram, startHost } from '../support/program.ts';
import { installPython } from '../support/python.ts';
import type { Service } from '../support/service.ts';
import { startNpmApp } from './npm-app.ts';

const PYTHON = resolve(import.meta.dirname, '../python');

/** An app that is written with an official SDK. */
export interface OfficialApp {
  title: string;
  /** Its id. */
  app: string;
  /** Makes what it needs, which takes long the first time. */
  install(): Promise<unknown>;
  /** Does not register yet, or does so by itself: a PUT to its URL registers it in any case. */
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

/** As the SDKs of Python and Go read them. */
function variables({ dev, url, env: { EVENT_KEYS = '', SIGNING_KEY = '' } }: Service): Record<string, string> {
  if (dev) return { INNGEST_DEV: url };
  return { INNGEST_DEV: '0', INNGEST_BASE_URL: url, INNGEST_EVENT_KEY: EVENT_KEYS, INNGEST_SIGNING_KEY: SIGNING_KEY };
}

export const IN_DEV_MODE: OfficialApp[] = [npm('official-npm'), python('async'), python('sync')];
export const IN_PRODUCTION: OfficialApp[] = [npm('official-npm'), python('async')];
