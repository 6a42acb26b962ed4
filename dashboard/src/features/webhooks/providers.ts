/** Providers whose webhooks the service verifies: name, signature, transform and sample of each. */
import { useQuery } from '@tanstack/react-query';
import { callApi } from '../../api/client.ts';
import type { Provider, ProviderDetails, Webhook } from '../../api/types.ts';

/** Only a release of the service changes them. */
const UNCHANGING = { staleTime: Number.POSITIVE_INFINITY };

export function useProviders() {
  return useQuery({
    queryKey: ['providers'],
    queryFn: async ({ signal }) => (await callApi<Provider[]>('/v1/providers', { signal })).data,
    ...UNCHANGING,
  });
}

/** @param id null or undefined: none */
export function useProvider(id: string | null | undefined) {
  return useQuery({
    queryKey: ['providers', id],
    queryFn: async ({ signal }) =>
      (await callApi<ProviderDetails>(`/v1/providers/${encodeURIComponent(id ?? '')}`, { signal })).data,
    enabled: Boolean(id),
    ...UNCHANGING,
  });
}

const SCHEMES: Record<string, string> = {
  hmac: 'HMAC signature',
  token: 'Secret token',
  basic: 'User and password',
  'public-key': 'Public key',
  jwt: 'JSON web token',
};

/** How the provider proves that it sends a request. */
export function schemeLabel({ scheme, secret }: Pick<Provider, 'scheme' | 'secret'>): string {
  if (!secret.needed) return 'Certificate';
  return SCHEMES[scheme] ?? 'Its own signature';
}

/** Whether all requests are rejected until a secret is saved. */
export function lacksSecret({ verify, secrets }: Webhook, { secret }: Pick<Provider, 'secret'>): boolean {
  return verify && secrets.length === 0 && secret.needed;
}
