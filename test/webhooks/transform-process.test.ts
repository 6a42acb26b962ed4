import { expect } from 'chai';
import { makeWebhook } from '../support/logged-webhooks.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { transformChildren } from '../transforms/support.ts';

const transform = 'const transform = () => null';

describe('The transform process of a web process', () => {
  let service: Service;
  beforeEach(async () => {
    service = await startService({ processes: true, workers: 0 });
  });
  afterEach(() => service.stop());

  const childrenOf = (index: number) => transformChildren(service.webs[index]?.pid);

  it('is forked only when there is a webhook', async () => {
    await service.post(service.eventPath, { name: 'order' });
    expect(childrenOf(0)).to.have.length(0);
    await makeWebhook(service, { transform });
    expect(childrenOf(0)).to.have.length(1);
  });

  it('exists before the first request if there was a webhook before the start', async () => {
    await makeWebhook(service, { transform });
    await service.startWeb();
    await until(() => childrenOf(1).length === 1, { describe: 'the second web process has forked it' });
  });
});
