import { expect } from 'chai';
import { Container, type Definitions } from '../../src/composition/container.ts';

describe('The container of parts', () => {
  interface Given {
    settings: { size: number };
  }
  interface Parts {
    engine: { size: number };
    car: { engine: { size: number } };
  }

  it('builds a part once, when it is first asked for', () => {
    const built: string[] = [];
    const definitions: Definitions<Parts, Given> = {
      car({ engine }) {
        built.push('car');
        return { engine };
      },
      engine({ settings }) {
        built.push('engine');
        return { size: settings.size };
      },
    };
    const { parts } = new Container<Given>({ settings: { size: 2 } }).with(definitions);
    expect(built).to.deep.equal([]);
    expect(parts.car.engine).to.equal(parts.engine);
    expect(parts.car).to.equal(parts.car);
    expect(parts.engine.size).to.equal(2);
    expect(built).to.deep.equal(['engine', 'car']);
  });

  it('closes only what was built, in reverse order', async () => {
    const closed: string[] = [];
    const closable = (name: string) => ({ build: () => name, close: (part: string) => closed.push(part) });
    const container = new Container({}).with({
      first: closable('first'),
      unused: closable('unused'),
      second: { ...closable('second'), build: ({ first }: { first: string }) => `second after ${first}` },
    });
    expect(container.parts.second).to.equal('second after first');
    await container.close();
    expect(closed).to.deep.equal(['second after first', 'first']);
    await container.close();
    expect(closed).to.have.length(2);
  });

  it('closes the other parts when one fails to close, and then throws', async () => {
    const closed: string[] = [];
    const container = new Container({}).with({
      first: { build: () => 1, close: () => closed.push('first') },
      second: { build: () => 2, close: () => Promise.reject(new Error('stuck')) },
    });
    const { first, second } = container.parts;
    const error = await container.close().catch((error) => error);
    expect([first, second, error.message, closed]).to.deep.equal([1, 2, 'stuck', ['first']]);
  });

  it('names the parts that depend on each other in a circle', () => {
    interface Circle {
      a: object;
      b: object;
      c: object;
    }
    const definitions: Definitions<Circle, object> = {
      a: ({ b }) => ({ b }),
      b: ({ c }) => ({ c }),
      c: ({ b }) => ({ b }),
    };
    const { parts } = new Container({}).with(definitions);
    expect(() => parts.a).to.throw(TypeError, 'parts that need each other: a → b → c → b');
  });

  it('retries building a part that failed', () => {
    let attempts = 0;
    const { parts } = new Container({}).with({
      part() {
        if (++attempts === 1) throw new Error('not yet');
        return attempts;
      },
    });
    expect(() => parts.part).to.throw('not yet');
    expect(parts.part).to.equal(2);
  });

  it('replaces a part by a later one of the same name', () => {
    const { parts } = new Container({ name: 'given' }).with({ name: () => 'first' }).with({ name: () => 2 });
    expect(parts.name).to.equal(2);
  });
});
