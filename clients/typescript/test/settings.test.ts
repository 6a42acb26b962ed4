import { expect } from 'chai';
import { ConfigError, Tidegate } from 'tidegate';
import { readSettings } from '../src/settings.ts';
import { rejection, useCleanEnv, useServers } from './servers.ts';

const KEY = 'signkey-test-00ff';
const OPTIONS = { id: 'shop' };

describe('Settings of the TypeScript client', () => {
  useCleanEnv();
  const { startService } = useServers();

  it('are read when needed, not when the client is created', async () => {
    const service = await startService();
    const client = new Tidegate(OPTIONS);
    process.env.SERVICE_BASE_URL = service.url;
    process.env.SERVICE_EVENT_KEY = 'late';
    process.env.SERVICE_ENV = 'pr-3';
    await client.send({ name: 'a', data: {} });
    expect(service.requests[0]).to.include({ url: '/e/late' });
    expect(service.requests[0]?.headers['x-service-env']).to.equal('pr-3');
  });

  it('prefer options to variables', () => {
    const env = {
      SERVICE_DEV: '1',
      SERVICE_EVENT_KEY: 'env',
      SERVICE_BASE_URL: 'http://env',
      SERVICE_ENV: 'env',
      SERVICE_SIGNING_KEY: 'signkey-env-00',
    };
    const options = { isDev: false, eventKey: 'opt', baseUrl: 'http://opt/', env: 'opt', signingKey: KEY };
    expect(readSettings({ ...OPTIONS, ...options }, env)).to.deep.include({
      mode: 'cloud',
      eventKey: 'opt',
      baseUrl: 'http://opt',
      env: 'opt',
      signingKey: KEY,
    });
  });

  it('use a local service in dev mode, with any event key', () => {
    for (const SERVICE_DEV of ['1', 'true']) {
      const settings = readSettings(OPTIONS, { SERVICE_DEV });
      expect(settings).to.deep.include({ mode: 'dev', baseUrl: 'http://127.0.0.1:8288', eventKey: 'dev' });
    }
    expect(readSettings({ ...OPTIONS, isDev: true }, {}).mode).to.equal('dev');
  });

  it('prefer the URL in SERVICE_DEV to SERVICE_BASE_URL', () => {
    const env = { SERVICE_DEV: 'http://127.0.0.1:9', SERVICE_BASE_URL: 'https://events.example' };
    expect(readSettings(OPTIONS, env)).to.deep.include({ mode: 'dev', baseUrl: 'http://127.0.0.1:9' });
    expect(readSettings({ ...OPTIONS, isDev: false }, env).baseUrl).to.equal('https://events.example');
  });

  it('disable dev mode if SERVICE_DEV is off', () => {
    for (const SERVICE_DEV of ['', '0', 'false']) {
      expect(readSettings(OPTIONS, { SERVICE_DEV }).mode).to.equal('cloud');
    }
  });

  it('name a missing variable and how to set it', async () => {
    const settings = readSettings(OPTIONS, {});
    expect(() => settings.eventKey).to.throw(ConfigError, /event key: set SERVICE_EVENT_KEY .*eventKey/);
    expect(() => settings.baseUrl).to.throw(ConfigError, /base URL: set SERVICE_BASE_URL .*baseUrl/);
    expect(() => settings.signingKey).to.throw(ConfigError, /signing key: set SERVICE_SIGNING_KEY .*signingKey/);
    expect(await rejection(new Tidegate(OPTIONS).send({ name: 'a', data: {} }))).to.be.instanceOf(ConfigError);
  });

  it('name an invalid variable', () => {
    expect(() => readSettings(OPTIONS, { SERVICE_DEV: 'yes' })).to.throw(ConfigError, 'SERVICE_DEV: got "yes"');
    expect(() => readSettings(OPTIONS, { SERVICE_BASE_URL: 'events.example' }).baseUrl).to.throw(
      ConfigError,
      'SERVICE_BASE_URL',
    );
    const unsound = readSettings(OPTIONS, { SERVICE_SIGNING_KEY: 'hunter2' });
    expect(() => unsound.signingKey)
      .to.throw(ConfigError, 'SERVICE_SIGNING_KEY')
      .with.property('message')
      .that.does.not.include('hunter2');
  });

  it('require the ID of the app', () => {
    expect(() => new Tidegate({ id: '' })).to.throw(TypeError, 'needs an id');
  });
});
