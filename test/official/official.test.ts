import { expect } from 'chai';
import { canonical } from '../../src/functions/canonical-json.ts';
import { sign } from '../../src/functions/signing.ts';
import { request } from '../support/http.ts';
import type { HostProgram } from '../support/program.ts';
import { type Service, startService } from '../support/service.ts';
import { IN_DEV_MODE, IN_PRODUCTION, type OfficialApp } from './hosts.ts';
import { Outside } from './outside.ts';
import { failsForGood, SCENARIOS } from './scenarios.ts';

const INSTALL_MS = 900_000;

for (const [mode, apps] of [
  ['dev mode', IN_DEV_MODE],
  ['production', IN_PRODUCTION],
] as const) {
  describe(`In ${mode}, an app of the official SDK`, () => {
    let service: Service;
    before(async () => {
      service = await startService({ env: { RETRY_SCALE: '0.0005' }, dev: mode === 'dev mode' });
    });
    after(() => service?.stop());

    for (const official of apps) describe(official.title, () => describeApp(official, mode, () => service));
  });
}

function describeApp(official: OfficialApp, mode: 'dev mode' | 'production', serviceOf: () => Service): void {
  let service: Service;
  let outside: Outside;
  let host: HostProgram;
  const scenarios = SCENARIOS.filter(({ fn }) => official.lacks?.[fn] === undefined);
  before(async function () {
    this.timeout(INSTALL_MS);
    await official.install();
    service = serviceOf();
    outside = new Outside(service, official.app);
    host = await official.start(service);
  });
  after(() => host?.stop());
  afterEach(function () {
    const error = this.currentTest?.state === 'failed' ? this.currentTest.err : undefined;
    if (error) error.stack += `\n\nOutput of the app:\n${host.output()}`;
  });

  it('registers', async () => {
    const { status, body } =
      mode === 'dev mode'
        ? await request('PUT', host.url)
        : await service.post('/v1/apps', { url: host.url }, service.apiHeaders);
    expect(status, JSON.stringify(body)).to.equal(200);
    const { functions, unsupported } = (await service.get(`/v1/apps/${official.app}`)).body.data;
    // The service acts on all that the SDK sends.
    expect(unsupported).to.deep.equal([]);
    // Plus `hopeless` and its failure handler.
    expect(functions).to.have.length(scenarios.length + 2);
  });

  it('passes the app check', async () => {
    const { body } = await service.post(`/v1/apps/${official.app}/check`, undefined, service.apiHeaders);
    expect(body.data.problems).to.deep.equal([]);
  });

  for (const { title, fn, data, during, output } of scenarios) {
    it(title, async () => {
      const eventId = await outside.send(fn, data);
      await during?.(outside, eventId);
      const put = await outside.output(eventId);
      if (typeof output === 'function') await output(put, outside);
      else expect(put).to.deep.equal(output);
    });
  }

  it('has its failure handler called when a run fails permanently', () => failsForGood(outside));

  if (mode === 'dev mode') return;

  it('accepts only calls signed with the signing key', async () => {
    const event = { name: `${official.app}/receipt`, data: { n: 3 }, id: '1', ts: Date.now() };
    const stack = { stack: [], current: 0 };
    const ctx = { run_id: '1', attempt: 0, max_attempts: 1, disable_immediate_execution: false, use_api: false, stack };
    const call = canonical({ ctx, event, events: [event], steps: {}, use_api: false, version: -1 });
    const responseTo = (headers: Record<string, string>) =>
      request('POST', `${host.url}?fnId=${official.app}-receipt&stepId=step`, {
        body: call,
        headers: { 'content-type': 'application/json', 'x-inngest-req-version': '-1', ...headers },
      });
    const signed = (key = '') => responseTo({ 'x-inngest-signature': sign(call, key, Date.now()) });
    const { SIGNING_KEY = '' } = service.env;
    const done = await signed(SIGNING_KEY);
    expect([done.status, done.body]).to.deep.equal([200, { got: { n: 3 } }]);
    for (const refused of [await responseTo({}), await signed(SIGNING_KEY.replace(/.$/, 'e'))]) {
      expect(refused.status, JSON.stringify(refused.body)).to.be.within(400, 500);
      expect(refused.body).not.to.have.property('got');
    }
  });
}
