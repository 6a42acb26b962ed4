import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';
import { eachCase } from './cases.ts';
import { fill } from './match.ts';
import { expectMeaning, type Meaning, type PlayedResponse } from './meaning.ts';

interface Case {
  title: string;
  answer: PlayedResponse;
  meaning?: Meaning;
  [ofTheApp: string]: unknown;
}

describe('The service conforms: replay', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService({ env: { RETRY_SCALE: '0.0005' } });
    host = await startAppHost();
    await host.register(service, [{ id: 'f', triggers: [{ event: 'meaning/x' }] }]);
  });
  after(async () => {
    await host.close();
    await service.stop();
  });

  eachCase<Case>(
    'replay',
    Object.fromEntries('program call replies requests answer meaning'.split(' ').map((field) => [field, true])),
    ({ answer, meaning }) => expectMeaning(service, host, fill(answer, { any: 'any' }), meaning as Meaning),
    ({ meaning }) => meaning !== undefined,
  );
});
