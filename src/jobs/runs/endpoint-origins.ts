/** Where the service calls endpoints. The request that starts an endpoint's run says where the endpoint is, and takes it from a `Host` that anybody may
 *  write: only an origin that a person has allowed counts. */
import { isLoopback } from '../../config.ts';
import { isAllowedOrigin } from '../../origin-patterns.ts';
import type { AllowedOrigins } from '../../store/apps/allowed-origins.ts';

export interface EndpointOriginsDeps {
  dev: boolean;
  /** Setting APP_ORIGINS. */
  appOrigins: readonly string[];
  allowedOrigins: Pick<AllowedOrigins, 'all'>;
}

export class EndpointOrigins {
  readonly #deps: EndpointOriginsDeps;

  constructor(deps: EndpointOriginsDeps) {
    this.#deps = deps;
  }

  /** @param url on this machine, in dev mode any is allowed */
  async allows(env: string, url: string): Promise<boolean> {
    const { dev, appOrigins, allowedOrigins } = this.#deps;
    const { origin, hostname } = new URL(url);
    if (isAllowedOrigin(origin, appOrigins) || (dev && isLoopback(hostname))) return true;
    const ofApps = await allowedOrigins.all(env);
    return [...ofApps.values()].some((patterns) => isAllowedOrigin(origin, patterns));
  }
}

/** What to do about an endpoint that is elsewhere. */
export function endpointRemedy(url: string): string {
  const { origin } = new URL(url);
  return (
    `the service calls endpoints only where somebody has allowed it. If an app of yours is at ${JSON.stringify(origin)}, allow it ` +
    `("tidegate apps allow <app> ${origin}", or the setting APP_ORIGINS)`
  );
}
