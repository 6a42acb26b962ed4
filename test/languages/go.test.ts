import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { type ClientTestBed, startClientTestBed } from '../support/client-test-bed.ts';
import { buildGo, go } from '../support/go.ts';
import { must, run } from '../support/program.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const CLIENT = join(ROOT, 'clients/go');
const TOOLS = join(ROOT, 'test/go');
const EXAMPLES = join(ROOT, 'examples/go');

/** A line of `go test -json`. */
interface GoEvent {
  Action: string;
  Package?: string;
  ImportPath?: string;
  /** Absent: it is about the package. */
  Test?: string;
  Output?: string;
}

describe('The Go client', function () {
  // The first time everything is compiled, with the race detector and without.
  this.timeout(300_000);

  it('has nothing to be mended, says go vet, nor have its examples', async () => {
    await go(['vet', './...'], CLIENT);
    await go(['vet', './...'], EXAMPLES);
  });

  it('has nothing to be mended, says staticcheck', async () => {
    const staticcheck = await buildGo('staticcheck', 'honnef.co/go/tools/cmd/staticcheck', TOOLS);
    await must(staticcheck, ['./...'], { cwd: CLIENT });
    await must(staticcheck, ['./...'], { cwd: EXAMPLES });
  });

  it('is formatted as gofmt does', async () => {
    const output = await must('gofmt', ['-l', '.', TOOLS, EXAMPLES], { cwd: CLIENT });
    expect(output.trim()).to.equal('');
  });

  describe('beside real services', () => {
    let services: ClientTestBed;
    before(async () => {
      services = await startClientTestBed();
    });
    after(() => services?.stop());

    it('passes its own tests under the race detector, and skips none', async () => {
      const args = ['test', '-race', '-count=1', '-timeout=4m', '-json', './...'];
      const { exitCode, output } = await run('go', args, { cwd: CLIENT, env: services.env });
      const events = eventsOf(output);
      const skipped = events.filter(({ Action, Test }) => Action === 'skip' && Test !== undefined);
      expect(exitCode, told(events, ['fail']) || output).to.equal(0);
      expect(skipped, told(events, ['skip'])).to.deep.equal([]);
      expect(events.filter(({ Action, Test }) => Action === 'pass' && Test !== undefined)).not.to.have.length(0);
    });
  });
});

/** Other lines, such as what the compiler says, become output of no test. */
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

/** What was written by the tests and packages that ended so, and by the compiler. */
function told(events: GoEvent[], endings: string[]): string {
  const key = ({ Package, Test }: GoEvent) => `${Package}/${Test ?? ''}`;
  const ended = new Set(events.filter(({ Action }) => endings.includes(Action)).map(key));
  return events
    .filter((event) => event.Output !== undefined && (event.Package === undefined || ended.has(key(event))))
    .map(({ Output }) => Output)
    .join('');
}
