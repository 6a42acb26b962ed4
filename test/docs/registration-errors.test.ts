import { expect } from 'chai';
import { hashedKey } from '../../src/functions/signing.ts';
import { type Service, startService } from '../support/service.ts';
import { blocksOf, jsonOf, pageOf } from './examples.ts';

const PAGE = pageOf('protocol.md');
const [REGISTRATION] = jsonOf(blocksOf(PAGE), 'registration');
const ARCHIVED = 'archived';

describe('The errors of a registration in docs/protocol.md', () => {
  let service: Service;
  before(async () => {
    const env = { FUNCTION_CONFIG_MAX_BYTES: '2000', APPS_MAX: '1', BRANCH_ENVIRONMENTS_MAX: '1' };
    service = await startService({ dev: false, env });
    await service.post('/v1/environments', { name: ARCHIVED, kind: 'branch' }, service.apiHeaders);
    await service.post(`/v1/environments/${ARCHIVED}/archive`, undefined, service.apiHeaders);
  });
  after(() => service?.stop());

  it('are returned in the order of the table', async () => {
    const proof = service.appHeaders;
    const { current } = (await service.get('/v1/environments/branches/signing-key')).body.data;
    const branch = (name: string) => ({ authorization: `Bearer ${hashedKey(current)}`, 'x-service-env': name });
    const inDevMode = { 'x-service-expected-server-kind': 'dev' };
    const note = 'x'.repeat(2_000);
    const large = { ...REGISTRATION, functions: REGISTRATION.functions.map((fn: object) => ({ ...fn, note })) };
    const faults: [code: string, headers: Record<string, string>, body: object][] = [
      ['credentials_invalid', { authorization: 'Bearer none', ...inDevMode }, large],
      ['registration_invalid', { ...proof, ...inDevMode }, large],
      ['body_too_large', proof, { ...large, framework: 'x'.repeat(2 * 1_048_576) }],
      ['quota_exceeded', proof, { ...large, appName: '' }],
      ['registration_invalid', branch('a-new-branch'), { ...REGISTRATION, appName: '' }],
      ['quota_exceeded', branch('a-new-branch'), REGISTRATION],
      ['environment_archived', branch(ARCHIVED), REGISTRATION],
    ];
    const seen: string[] = [];
    const register = async (headers: Record<string, string>, body: object) => {
      const response = await service.post('/fn/register', body, headers);
      seen.push(`${response.status} ${response.body.code}`);
      return response.body;
    };
    for (const [code, headers, body] of faults) {
      expect((await register(headers, body)).code).to.equal(code);
    }
    expect((await service.post('/fn/register', REGISTRATION, proof)).status).to.equal(200);
    const elsewhere = { ...REGISTRATION, url: 'https://elsewhere.example/api' };
    expect((await register(proof, elsewhere)).code).to.equal('registration_held');
    expect((await register(proof, { ...REGISTRATION, appName: 'second' })).code).to.equal('quota_exceeded');

    const documented = [...PAGE.matchAll(/^\| (\d{3}) \| `(\w+)` \|/gm)].map(([, status, code]) => `${status} ${code}`);
    expect(documented.filter((error) => error !== '503 memory_short')).to.deep.equal(seen);
  });
});
