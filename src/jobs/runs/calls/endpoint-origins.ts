/** Allowed origins of endpoints. The request that starts an endpoint's run reports the endpoint's URL, taken from a `Host` header that
 *  anybody may forge: only origins that a person has allowed are called. */
import { Composed } from '../../../model/values/composed.ts';
import { isAllowedOrigin } from '../../../origin-patterns.ts';
import { isLoopback } from '../../../settings/checks.ts';
import type { AllowedOrigins } from '../../../store/apps/allowed-origins.ts';

export class EndpointOrigins extends Composed<{
  dev: boolean;
  /** Setting APP_ORIGINS. */
  appOrigins: readonly string[];
  allowedOrigins: Pick<AllowedOrigins, 'all'>;
}> {
  /** @param url in dev mode, any URL on this machine is allowed */
  async allows(env: string, url: string): Promise<boolean> {
    const { dev, appOrigins, allowedOrigins } = this.deps;
    const { origin, hostname } = new URL(url);
    if (isAllowedOrigin(origin, appOrigins) || (dev && isLoopback(hostname))) return true;
    const ofApps = await allowedOrigins.all(env);
    return [...ofApps.values()].some((patterns) => isAllowedOrigin(origin, patterns));
  }
}

/** Says how to allow an endpoint at another origin. */
export function endpointRemedy(url: string): string {
  const { origin } = new URL(url);
  return (
    `the service calls endpoints only where somebody has allowed it. If an app of yours is at ${JSON.stringify(origin)}, allow it ` +
    `("tidegate apps allow <app> ${origin}", or the setting APP_ORIGINS)`
  );
}
