import { expect } from 'chai';
import { readConfig } from '../../src/config.ts';
import { SETTINGS } from '../../src/settings/settings.ts';
import { SECRETS, type Service, startService } from '../support/service.ts';

interface Setting {
  name: string;
  value: string | null;
  default: string | null;
  meaning: string;
  is_set: boolean;
  secret: boolean;
}

describe('settings of the REST API', () => {
  let service: Service;
  let text: string;
  let settings: Map<string, Setting>;
  before(async () => {
    service = await startService({ dev: false, workers: 0 });
    const { body } = await service.get('/v1/settings');
    text = JSON.stringify(body);
    settings = new Map(body.data.map((setting: Setting) => [setting.name, setting]));
  });
  after(() => service.stop());

  it('GET /v1/settings lists every setting with its meaning', () => {
    expect([...settings.keys()]).to.deep.equal(Object.keys(SETTINGS));
    for (const { meaning } of settings.values()) expect(meaning).to.be.a('string').and.not.equal('');
  });

  it('GET /v1/settings shows the effective value, set or default', () => {
    expect(settings.get('KEY_PREFIX')).to.include({ value: service.prefix, default: 'service', is_set: true });
    expect(settings.get('RETENTION_DAYS')).to.include({ value: '7', default: '7', is_set: false });
    expect(settings.get('REDIS_TLS_VERIFY')).to.include({ value: 'true', default: 'true', is_set: false });
    expect(settings.get('PUBLIC_URL')).to.include({ value: null, default: null, is_set: false });
  });

  it('GET /v1/settings never shows a secret', () => {
    for (const [name, secret] of Object.entries(SECRETS)) {
      expect(settings.get(name)).to.include({ value: null, secret: true, is_set: true });
      expect(text).not.to.include(secret);
    }
    expect(settings.get('ADMIN_PASSWORD')).to.include({ value: null, secret: true, is_set: false });
  });

  it('GET /v1/settings hides the password of REDIS_URL wherever it appears in the URL', () => {
    const shown = (url: string) =>
      readConfig({ MODE: 'dev', REDIS_URL: url }).settings.find(({ name }) => name === 'REDIS_URL')?.value;
    expect(shown('rediss://:p4ss@word@redis:6379/0')).to.equal('rediss://:***@redis:6379/0');
    expect(shown('redis://user:hush@redis:6379')).to.equal('redis://user:***@redis:6379');
    expect(shown('redis://redis:6379/0?password=hush')).to.equal('redis://redis:6379/0?password=***');
    expect(shown('redis://127.0.0.1:6379')).to.equal('redis://127.0.0.1:6379');
  });

  it('GET /v1/settings hides the passwords of SMTP_URL, also with an email address as the user, and of LARGE_BODIES_BUCKET_URL', async () => {
    const env = {
      SMTP_URL: 'smtp://ada@example.com:hush@mail.example.com:587?requireTLS=true',
      ALERT_FROM: 'alerts@example.com',
      LARGE_BODIES_BUCKET_URL: 'https://key-id:hu%2Fsh@s3.example.com/bodies?region=eu-central-1',
    };
    const started = await startService({ dev: false, workers: 0, env });
    try {
      const { body } = await started.get('/v1/settings');
      const shown = new Map(body.data.map(({ name, value }: Setting) => [name, value]));
      expect(shown.get('SMTP_URL')).to.equal('smtp://ada@example.com:***@mail.example.com:587?requireTLS=true');
      expect(shown.get('LARGE_BODIES_BUCKET_URL')).to.equal(
        'https://key-id:***@s3.example.com/bodies?region=eu-central-1',
      );
      expect(JSON.stringify(body)).not.to.match(/hu(%2F)?sh/i);
    } finally {
      await started.stop();
    }
  });

  it('TRACE_URL_TEMPLATE accepts a web address with {trace_id} after its host, and rejects unknown placeholders', () => {
    const read = (template: string) => readConfig({ MODE: 'dev', TRACE_URL_TEMPLATE: template }).traceUrlTemplate;
    const good = 'https://grafana.example.com/explore?left={"queries":["{trace_id}"],"x":"{run_id} {env}"}';
    expect(read(good)).to.equal(good);
    for (const template of [
      'javascript:alert("{trace_id}")',
      'ftp://traces.example.com/{trace_id}',
      'https://traces.example.com/',
      'https://traces.example.com/{trace_id}/{traceid}',
      'https://{trace_id}.example.com/',
      'https://traces.{env}/{trace_id}',
      '{trace_id}',
    ]) {
      expect(() => read(template), template).to.throw(/^TRACE_URL_TEMPLATE: /);
    }
  });

  for (const name of ['REDIS_CLUSTER_URLS', 'REDIS_SENTINEL_URLS'] as const) {
    it(`hides the passwords in all URLs of ${name}, even in the error about a wrong one`, () => {
      const given = 'redis://:hush%2C1@a:1, rediss://user:hu@sh@b:2,redis://c:3?password=hush';
      const shown = 'redis://:***@a:1,rediss://user:***@b:2,redis://c:3?password=***';
      const { settings } = readConfig({ MODE: 'dev', [name]: given });
      expect(settings.find((setting) => setting.name === name)?.value?.replaceAll(' ', '')).to.equal(shown);
      for (const wrong of [`${given},http://user:hush@d:4`, `${given},user:hush@d:4`, 'redis://user:hush@d:port']) {
        expect(() => readConfig({ MODE: 'dev', [name]: wrong }))
          .to.throw(`${name}: got `)
          .with.property('message')
          .that.does.not.match(/hu@?sh/);
      }
    });
  }

  it('hides the password of an invalid REDIS_URL', () => {
    expect(() => readConfig({ MODE: 'dev', REDIS_URL: 'http://user:hush@redis' })).to.throw('user:***@redis');
  });
});
