import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { installSchemathesis, run } from '../support/schemathesis.ts';
import { type Service, startService } from '../support/service.ts';

const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_schema_conformance',
];
const EXAMPLES_PER_OPERATION = 15;
/** POST /v1/apps would call generated hosts; the response of GET /v1/stream does not end; POST /v1/dev/clock moves the clock of the tests. */
const EXCLUDED = ['POST /v1/apps', 'GET /v1/stream', 'POST /v1/dev/clock'];

describe('schemathesis against the OpenAPI document', function () {
  // The first run installs schemathesis.
  this.timeout(600_000);
  let service: Service;
  let host: AppHost;
  let dir: string;
  let program: string;
  before(async () => {
    program = await installSchemathesis();
    dir = mkdtempSync(join(tmpdir(), 'tidegate-schemathesis-'));
    service = await startService();
    host = await startAppHost();
  });
  after(async () => {
    rmSync(dir, { recursive: true, force: true });
    await host?.close();
    await service?.stop();
  });

  /** Existing objects by their path, so that not every request is a 404. */
  async function knownThings(): Promise<Record<string, [param: string, value: string]>> {
    await host.register(service, [{ id: 'f', triggers: [{ event: 'known/x' }] }], { appName: 'known' });
    const [event] = (await service.post('/e/key', { name: 'known/x', data: {} })).body.ids;
    const ended = await service.waitFor(`/v1/events/${event}/runs`, ({ body }) => body.data?.[0]?.ended_at);
    const webhook = (await service.post('/v1/webhooks', { name: 'Known' })).body.data;
    await service.post(new URL(webhook.url).pathname, { n: 1 });
    await service.post('/v1/environments', { name: 'known' });
    return {
      events: ['id', event],
      runs: ['id', ended.body.data[0].run_id],
      functions: ['id', 'known-f'],
      apps: ['name', 'known'],
      webhooks: ['id', webhook.id],
      environments: ['name', 'known'],
    };
  }

  async function writeConfig(): Promise<string> {
    const known = Object.entries(await knownThings()).map(
      ([path, [param, value]]) =>
        `[[operations]]\ninclude-path-regex = "^/v1/${path}/"\nexclude-method = "DELETE"\nparameters = { "path.${param}" = "${value}" }`,
    );
    const excluded = EXCLUDED.map((name) => `[[operations]]\ninclude-name = "${name}"\nenabled = false`);
    const path = join(dir, 'schemathesis.toml');
    writeFileSync(path, [...known, ...excluded].join('\n\n'));
    return path;
  }

  it('schemathesis finds no server error and no response that the OpenAPI document does not allow', async () => {
    const config = await writeConfig();
    const { exitCode, output } = await run(
      program,
      [
        ...['--config-file', config, 'run', `${service.url}/openapi.json`],
        ...['--checks', CHECKS.join(','), '--max-examples', String(EXAMPLES_PER_OPERATION), '--workers', '1'],
        ...['--phases', 'examples,coverage,fuzzing', '--generation-deterministic'],
        ...['--suppress-health-check', 'all', '--warnings', 'off', '--continue-on-failure', '--no-color'],
      ],
      dir,
    );
    expect(exitCode, output).to.equal(0);
    const sentAgain = (await service.get('/v1/events?name=known/x')).body.data.length - 1;
    expect(sentAgain, 'requests that have met what is there').to.be.greaterThan(0);
  });
});
