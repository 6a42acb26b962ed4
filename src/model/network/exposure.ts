/** Warns about ports that more machines reach than intended: without HOST, a process listens on addresses that no user has chosen. */
import type { Config } from '../../config.ts';

const REMEDY =
  'Set HOST=127.0.0.1 where the proxy runs on this machine, or HOST=0.0.0.0 where only the proxy reaches the port, as in a container or on Heroku';

type Listening = Pick<Config, 'dev' | 'isHostSet' | 'trustProxy' | 'metricsPort' | 'metricsToken'>;

export function exposureWarnings({ dev, isHostSet, trustProxy, metricsPort, metricsToken }: Listening): string[] {
  if (dev || isHostSet) return [];
  return [
    ...(trustProxy > 0
      ? [
          `HOST is not set, so PORT is open on all addresses of this machine, and TRUST_PROXY is ${trustProxy}: whoever reaches PORT beside the proxy ` +
            `chooses the address that X-Forwarded-For names. ${REMEDY}.`,
        ]
      : []),
    ...(metricsPort !== undefined && metricsToken === undefined
      ? [
          'HOST and METRICS_TOKEN are not set, so METRICS_PORT answers everybody who reaches this machine. Set METRICS_TOKEN, or HOST.',
        ]
      : []),
  ];
}
