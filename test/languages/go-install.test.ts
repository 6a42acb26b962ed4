import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { type HostedExample, hostExample, LANGUAGES } from '../support/example-programs.ts';
import { must } from '../support/program.ts';
import { type Service, startService } from '../support/service.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const README = readFileSync(join(ROOT, 'clients/go/README.md'), 'utf8');
const MODULE = 'github.com/tidegate/tidegate/clients/go';

describe('The Go client in a project outside this repository', function () {
  this.timeout(600_000);
  let folder: string;
  let project: string;
  let service: Service;
  let app: HostedExample | undefined;

  before(async () => {
    service = await startService();
  });
  after(() => service.stop());
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'go-install-'));
    cpSync(join(ROOT, 'clients/go'), join(folder, 'tidegate/clients/go'), { recursive: true });
    project = join(folder, 'shop');
    mkdirSync(project);
    writeFileSync(join(project, 'go.mod'), 'module shop\n\ngo 1.25\n');
  });
  afterEach(async () => {
    await app?.stop();
    app = undefined;
    rmSync(folder, { recursive: true, force: true });
  });

  it("is installed from a copy of the repository by the README, and runs the README's app", async () => {
    await runsFirstFunction('go mod edit', { GOPROXY: 'off' });
  });

  it("is installed from the tag of a release by the README, and runs the README's app", async () => {
    const [, tag] = /with the tag `([^`]+)`/.exec(README) ?? [];
    expect(tag).to.match(/^clients\/go\/v\d+\.\d+\.\d+$/);
    const repository = join(folder, 'tidegate');
    const git = (...args: string[]) =>
      must('git', ['-c', 'user.name=test', '-c', 'user.email=test@example.com', ...args], { cwd: repository });
    await git('init', '--quiet');
    await git('add', '--all');
    await git('commit', '--quiet', '--message', 'A release');
    await git('tag', String(tag));

    const env = fromRepository(repository);
    await runsFirstFunction('go get', env);
    expect(await must('go', ['list', '-m', MODULE], { cwd: project, env })).to.include(`${MODULE} v`);
    // Go makes downloaded modules read-only.
    await must('go', ['clean', '-modcache'], { cwd: project, env });
  });

  /** @param command the beginning of the README's command that installs the client */
  async function runsFirstFunction(command: string, env: Record<string, string>): Promise<void> {
    const go = LANGUAGES.find(({ name }) => name === 'Go');
    if (!go) throw new Error('There is no example in Go');
    const prepare = async (_: string, code: string): Promise<[string, string[]]> => {
      await install(command, env);
      writeFileSync(join(project, 'main.go'), code);
      await must('go', ['build', '-o', 'program', '.'], { cwd: project, env });
      return [join(project, 'program'), []];
    };
    app = await hostExample({ ...go, prepare }, go.first, service.url);
    expect((await service.post('/v1/apps', { url: app.url })).status).to.equal(200);
    const event = { name: 'order/paid', data: { orderId: 'A1', total: 120 } };
    const { body: sent } = await service.post('/e/key', event);
    const { body } = await service.waitFor(`/v1/events/${sent.ids[0]}/runs`, ({ body }) => body.data?.[0]?.ended_at);
    expect(body.data[0].output).to.deep.equal({ sent: 'Receipt for order A1' });
  }

  /** Runs the README's command that begins so. */
  async function install(beginning: string, env: Record<string, string>): Promise<void> {
    const line = README.split('\n').find((item) => item.startsWith(beginning));
    const [program = '', ...args] = (line ?? '').split(' ');
    await must(program, args, { cwd: project, env });
  }

  /** GitHub's repository of the module is this one; nothing else is asked. */
  function fromRepository(repository: string): Record<string, string> {
    return {
      GOPROXY: 'direct',
      GONOSUMDB: '*',
      GOFLAGS: '-mod=mod',
      GOMODCACHE: join(folder, 'modules'),
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: `url.file://${repository}.insteadOf`,
      GIT_CONFIG_VALUE_0: 'https://github.com/tidegate/tidegate',
      GIT_ALLOW_PROTOCOL: 'file',
    };
  }
});
