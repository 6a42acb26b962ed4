import { expect } from 'chai';
import { containerHostNames } from '../../src/model/network/container-host-names.ts';

const namesIn = (...lines: string[]) => [
  ...containerHostNames(lines.join('\n'), (address) => ['127.0.0.1', '192.168.1.5', 'fd00::5'].includes(address)),
];

describe('Names that containers have for this machine', () => {
  it('are read from its hosts file', () => {
    const file = [
      '# Added by Docker Desktop',
      '192.168.1.5 host.docker.internal   # this machine',
      'fd00::5\thost.docker.internal Gateway.Docker.Internal',
      '# 127.0.0.1 host.containers.internal',
      '192.168.65.3 kubernetes.docker.internal',
    ];
    expect(namesIn(...file)).to.have.members(['host.docker.internal', 'gateway.docker.internal']);
  });

  it('exclude names that also mean another machine', () => {
    expect(namesIn('127.0.0.1 host.docker.internal', '10.0.0.1 host.docker.internal')).to.deep.equal([]);
    expect(namesIn('127.0.0.1 shop.example.com evil.docker.internal', '', 'host.docker.internal')).to.deep.equal([]);
  });
});
