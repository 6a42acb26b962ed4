/** The dialect of a request to the REST API: some fields of responses mean something else to users of the official SDKs (docs/rest.md). */
import { hasHeaderOf } from '../../functions/headers.ts';
import type { Dialect } from '../../model/apps/app.ts';
import type { Context } from './router.ts';

/** A signing key, or a header of that dialect. An API key or a session makes no difference. */
export function dialectOfRequest({ state, req }: Context): Dialect {
  if (state.principal?.kind === 'signing-key') return 'inngest';
  return hasHeaderOf(req.headers, 'inngest') ? 'inngest' : 'service';
}
