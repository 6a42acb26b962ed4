import { expect } from 'chai';
import { ConfigError, readConfig } from '../../src/config.ts';
import { type Service, startService } from '../support/service.ts';

const SECRETS = {
  EVENT_KEYS: 'key-one-0123456789, key-two-0123456789',
  SECRET_KEY: 'secret-key-of-the-tests-0123456789',
  API_KEY: 'api-key-of-the-tests',
  SIGNING_KEY: 'signkey-test-00ff',
};

describe('production access', () => {
  let service: Service;
  before(async () => {
    service = await startService({ dev: false, env: SECRETS });
  });
  after(() => service.stop());

  const ask = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(service.url + path, init);
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text.startsWith('{') ? JSON.parse(text) : text };
  };
  const event = (headers: Record<string, string> = {}): RequestInit => ({
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: '{"name":"x","data":{}}',
  });

  it('POST /e/:key accepts known keys only', async () => {
    expect((await ask('/e/key-one-0123456789', event())).status).to.equal(200);
    expect((await ask('/e/key-two-0123456789', event())).status).to.equal(200);
    const unknown = await ask('/e/key-three', event());
    expect([unknown.status, unknown.body.code]).to.deep.equal([401, 'key_unknown']);
  });

  it('POST /e/:key rejects a key of another environment', async () => {
    expect((await ask('/e/key-one-0123456789', event({ 'x-service-env': 'production' }))).status).to.equal(200);
    for (const [path, headers] of [
      ['/e/key-one-0123456789', { 'x-service-env': 'feature-x' }],
      ['/e/key-one-0123456789', { 'x-inngest-env': 'feature-x' }],
      ['/e/key-one-0123456789?x-service-env=feature-x', {}],
    ] as const) {
      const response = await ask(path, event(headers));
      expect([response.status, response.body.code]).to.deep.equal([403, 'environment_mismatch']);
    }
  });

  it('every route requires authentication except events, registration, sign-in and health', async () => {
    for (const path of [
      '/',
      '/v1/events',
      '/v1/webhooks',
      '/docs',
      '/openapi.json',
      '/queues',
      '/queues/api/queues',
      '/nope',
    ]) {
      expect((await ask(path)).status, path).to.equal(401);
      expect((await ask(path, { headers: { authorization: 'Bearer wrong' } })).status, path).to.equal(401);
    }
    const bearer = { authorization: `Bearer ${SECRETS.API_KEY}` };
    expect((await ask('/v1/events', { headers: bearer })).status).to.equal(200);
    expect((await ask('/queues', { headers: bearer })).status).to.equal(200);
    for (const path of ['/livez', '/readyz', '/health']) expect((await ask(path)).status, path).to.equal(200);
  });

  it('POST /fn/register requires the signing key', async () => {
    const response = await ask('/fn/register', {
      method: 'POST',
      body: '{}',
      headers: { 'x-service-sdk': 'test:v1.0.0' },
    });
    expect([response.status, response.body.code]).to.deep.equal([401, 'credentials_invalid']);
  });

  it('POST /e/:key sends no CORS headers to web pages', async () => {
    const response = await ask('/e/key-one-0123456789', event());
    expect(response.headers.get('access-control-allow-origin')).to.equal(null);
  });
});

describe('configuration', () => {
  it('an invalid setting is reported with its name, its value and what is expected', () => {
    expect(() => readConfig({ MODE: 'dev', PORT: 'http', RETENTION_DAYS: '0.5' }))
      .to.throw(ConfigError)
      .with.property('message')
      .that.matches(/PORT: got "http"/)
      .and.matches(/RETENTION_DAYS: got "0.5"/);
  });

  const SECRET_KEY = SECRETS.SECRET_KEY;
  const rejection = (env: Record<string, string>) => {
    try {
      readConfig({ SECRET_KEY, ...env });
    } catch (error) {
      expect(error).to.be.instanceOf(ConfigError);
      return (error as Error).message;
    }
    return 'none';
  };

  it('SECRET_KEY is required outside dev mode', () => {
    expect(() => readConfig({})).to.throw(ConfigError, /^SECRET_KEY: not set/);
    expect(readConfig({ MODE: 'dev' }).dev).to.equal(true);
    expect(rejection({})).to.equal('none');
  });

  it('unsafe settings are rejected in production with the reason', () => {
    expect(rejection({ SECRET_KEY: 'short' })).to.match(/^SECRET_KEY: got 5 characters/);
    expect(rejection({ EVENT_KEYS: 'sixteen-letters!, short' })).to.match(/^EVENT_KEYS: key 2 has 5 characters/);
    expect(rejection({ EVENT_KEYS: 'sixteen-letters!' })).to.equal('none');
    expect(rejection({ API_KEY: 'fifteen-letters' })).to.match(/^API_KEY: got 15 characters/);
    expect(rejection({ ADMIN_EMAIL: 'a@example.com', ADMIN_PASSWORD: 'hunter2' })).to.match(/^ADMIN_PASSWORD: /);
    expect(rejection({ ADMIN_EMAIL: 'a@example.com' })).to.match(/^ADMIN_PASSWORD: not set, but ADMIN_EMAIL is/);
    expect(rejection({ PUBLIC_URL: 'http://events.example.com' })).to.match(/^PUBLIC_URL: .* expected an https URL/);
    expect(rejection({ API_KEY: SECRET_KEY })).to.match(/^API_KEY: the same as SECRET_KEY/);
    expect(rejection({ PUBLIC_URL: 'http://localhost:8288' })).to.equal('none');
    expect(rejection({ PUBLIC_URL: 'https://events.example.com' })).to.equal('none');
  });

  it('settings of single sign-on that would let in everybody, or nobody, are rejected', () => {
    const one = { OIDC_ISSUER: 'https://id.example.com', OIDC_CLIENT_ID: 'x', OIDC_CLIENT_SECRET: 'y' };
    const provider = { ...one, PUBLIC_URL: 'https://events.example.com' };
    const open = { ...provider, OIDC_SIGN_UP: 'first-sign-in' };
    const more = (fields: object) => ({
      ...provider,
      OIDC_PROVIDERS: JSON.stringify([{ id: 'b', issuer: 'https://b.example', client_id: 'x', ...fields }]),
    });
    expect(rejection(provider)).to.equal('none');
    expect(rejection(one)).to.match(/^PUBLIC_URL: not set/);
    expect(rejection({ ...provider, OIDC_CLIENT_SECRET: '' })).to.match(/^OIDC_CLIENT_SECRET: not set; set/);
    expect(rejection({ ...provider, OIDC_ISSUER: 'http://id.example.com' })).to.match(/expected an https URL/);
    expect(rejection({ PASSWORD_SIGN_IN: 'false' })).to.match(/^PASSWORD_SIGN_IN: false, but there is no provider/);
    expect(rejection(open)).to.match(/^OIDC_ROLE_RULES: .* say which role/);
    expect(rejection({ ...open, OIDC_ROLE_RULES: '*=read' })).to.match(/^OIDC_ALLOWED_DOMAINS: not set/);
    expect(rejection({ ...open, OIDC_ROLE_RULES: 'admins=boss' })).to.match(/expected rules such as/);
    expect(rejection({ ...open, OIDC_ROLE_RULES: '{"CN=a,OU=b": "admin"}' })).to.equal('none');
    expect(rejection(more({}))).to.match(/^OIDC_PROVIDERS: got \d+ characters: 0\.client_secret/);
    expect(rejection(more({ client_secret: 'z', id: 'main' }))).to.match(/^OIDC_PROVIDERS: two providers/);
  });

  it('an error about a setting never shows a secret', () => {
    expect(rejection({ API_KEY: 'let-me-in' })).not.to.include('let-me-in');
  });

  it('dev mode listens on the loopback address only', () => {
    expect(readConfig({ MODE: 'dev', HOST: '0.0.0.0' }).host).to.equal('127.0.0.1');
  });
});
