import { expect } from 'chai';
import {
  type ConnectedExample,
  connectExample,
  expectExamples,
  LANGUAGES,
  removeExamplePrograms,
} from '../support/example-programs.ts';
import { type Service, startService } from '../support/service.ts';

const INSTALL_MS = 900_000;

describe('docs/connect.md', () => {
  let service: Service;
  let app: ConnectedExample | undefined;
  before(async () => {
    service = await startService();
  });
  afterEach(() => app?.stop());
  after(async () => {
    await service.stop();
    removeExamplePrograms();
  });

  const connections = (count: number) =>
    service.waitFor('/v1/apps/shop/connections', ({ body }) => body.data?.length === count);

  it('shows an app in each language as it is', () => {
    expectExamples(
      'docs/connect.md',
      LANGUAGES.map(({ connected }) => connected),
    );
  });

  for (const language of LANGUAGES) {
    it(`has an app in ${language.name} that runs its function, and ends in order upon SIGTERM`, async function () {
      this.timeout(INSTALL_MS);
      app = await connectExample(language, service.url);
      await connections(1);
      const { body: sent } = await service.post('/e/key', { name: 'order/paid', data: { orderId: 'A1' } });
      const { body } = await service.waitFor(`/v1/events/${sent.ids[0]}/runs`, ({ body }) => body.data?.[0]?.ended_at);
      expect(body.data[0]).to.include({ status: 'Completed', output: 'Receipt for order A1' });
      expect(await app.terminate()).to.equal(0);
      await connections(0);
    });
  }
});
