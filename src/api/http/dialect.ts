/** Dialect of a request to the REST API: some response fields have another meaning for users of the official SDKs (docs/rest.md). */
import { hasHeaderOf } from '../../functions/headers.ts';
import type { Dialect } from '../../model/apps/app.ts';
import type { Context } from './router.ts';

/** A signing key or a header of the dialect decides; API keys and sessions do not matter. */
export function dialectOfRequest({ state, req }: Context): Dialect {
  if (state.principal?.kind === 'signing-key') return 'inngest';
  return hasHeaderOf(req.headers, 'inngest') ? 'inngest' : 'service';
}
