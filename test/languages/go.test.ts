import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { type ClientTestBed, startClientTestBed } from '../support/client-test-bed.ts';
import { buildGo, go } from '../support/go.ts';
import { postgresUrl } from '../support/postgres.ts';
import { must, run } from '../support/program.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const CLIENT = join(ROOT, 'clients/go');
const TOOLS = join(ROOT, 'test/go');
const EXAMPLES = join(ROOT, 'examples/go');
/** A module of its own, with pgx and lib/pq. */
const ON_POSTGRES = join(TOOLS, 'postgres');

/** A line of `go test -json`. */
interface GoEvent {
  Action: string;
  Package?: string;
  ImportPath?: string;
  /** undefined: the line is about the package. */
  Test?: string;
  Output?: string;
}

describe('The Go client', function () {
  // The first run compiles everything, with and without the race detector.
  this.timeout(600_000);

  it('passes go vet, with its examples', async () => {
    await go(['vet', './...'], CLIENT);
    await go(['vet', './...'], EXAMPLES);
    await go(['vet', './...'], ON_POSTGRES);
  });

  it('passes staticcheck', async () => {
    const staticcheck = await buildGo('staticcheck', 'honnef.co/go/tools/cmd/staticcheck', TOOLS);
    await must(staticcheck, ['./...'], { cwd: CLIENT });
    await must(staticcheck, ['./...'], { cwd: EXAMPLES });
    await must(staticcheck, ['./...'], { cwd: ON_POSTGRES });
  });

  it('is formatted by gofmt', async () => {
    const output = await must('gofmt', ['-l', '.', TOOLS, EXAMPLES], { cwd: CLIENT });
    expect(output.trim()).to.equal('');
  });

  describe('with real services', () => {
    let services: ClientTestBed;
    before(async () => {
      services = await startClientTestBed();
    });
    after(() => services?.stop());

    it('passes its own tests with the race detector, and skips none', async () => {
      await passesAll(CLIENT, services.env);
    });

    it('passes its tests on a real Postgres, with each library, and skips none', async () => {
      await passesAll(ON_POSTGRES, { ...services.env, TEST_DATABASE_URL: postgresUrl() });
    });
  });
});

async function passesAll(cwd: string, env: Record<string, string>): Promise<void> {
  const args = ['test', '-race', '-count=1', '-timeout=8m', '-json', './...'];
  const { exitCode, output } = await run('go', args, { cwd, env });
  const events = eventsOf(output);
  const skipped = events.filter(({ Action, Test }) => Action === 'skip' && Test !== undefined);
  expect(exitCode, outputOf(events, ['fail']) || output).to.equal(0);
  expect(skipped, outputOf(events, ['skip'])).to.deep.equal([]);
  expect(events.filter(({ Action, Test }) => Action === 'pass' && Test !== undefined)).not.to.have.length(0);
}

/** Other lines, such as compiler messages, become output without a test. */
function eventsOf(output: string): GoEvent[] {
  return output
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      try {
        return JSON.parse(line);
      } catch {
        return { Action: 'output', Output: `${line}\n` };
      }
    });
}

/** Output of tests and packages with this result, of those that did not end, and of the compiler. */
function outputOf(events: GoEvent[], endings: string[]): string {
  const key = ({ Package, Test }: GoEvent) => `${Package}/${Test ?? ''}`;
  const others = ['pass', 'fail', 'skip'].filter((ending) => !endings.includes(ending));
  const left = new Set(events.filter(({ Action }) => others.includes(Action)).map(key));
  return events
    .filter((event) => event.Output !== undefined && (event.Package === undefined || !left.has(key(event))))
    .map(({ Output }) => Output)
    .join('');
}
