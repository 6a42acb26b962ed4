/** Writes down who did what. What was done stays done when it cannot be written down; the log says so then. */
import type { Context } from 'koa';
import type { Logger } from '../../log.ts';
import type { Audit, AuditEntry } from '../../store/audit.ts';

export type Deed = Omit<AuditEntry, 'at' | 'ip' | 'requestId'>;

export class Auditor {
  readonly #audit: Audit;
  readonly #log: Logger;

  constructor(audit: Audit, log: Logger) {
    this.#audit = audit;
    this.#log = log;
  }

  async note(ctx: Context, { who: { kind, id, name }, ...deed }: Deed): Promise<void> {
    const requestId = ctx.state.requestId as string;
    const entry = { ...deed, who: { kind, id, name }, at: Date.now(), ip: ctx.ip, requestId };
    await this.#audit
      .append(entry)
      .catch((error: Error) => this.#log.error({ request_id: requestId, err: error.message }, 'not audited'));
  }
}
