/** Writes down who did what, and who was refused: in the store, and as one line of the log, which outlives it. What was done stays done
 *  when the store cannot write it down. */
import type { Context } from 'koa';
import type { ServiceError } from '../../errors.ts';
import type { Logger } from '../../log.ts';
import { addressBlock } from '../../model/network/address.ts';
import type { AuditEntry, AuditLog } from '../../store/auth/audit-log.ts';
import type { Rejection, RejectionLog } from '../../store/auth/rejection-log.ts';
import { clientAddress } from '../http/client-address.ts';
import { SignInThrottled } from './accounts.ts';

export type AuditedAction = Omit<AuditEntry, 'at' | 'ip' | 'requestId'>;

export class AuditLogger {
  readonly #audit: AuditLog;
  readonly #refusals: RejectionLog;
  readonly #log: Logger;

  constructor(audit: AuditLog, refusals: RejectionLog, log: Logger) {
    this.#audit = audit;
    this.#refusals = refusals;
    this.#log = log;
  }

  async note(ctx: Context, { who: { kind, id, name }, ...deed }: AuditedAction): Promise<void> {
    const requestId = ctx.state.requestId as string;
    const entry = { ...deed, who: { kind, id, name }, ip: clientAddress(ctx) };
    this.#log.info({ request_id: requestId, audit: entry }, 'audit');
    await this.#audit
      .append({ ...entry, at: Date.now(), requestId })
      .catch((error: Error) => this.#log.error({ request_id: requestId, err: error.message }, 'not in the audit log'));
  }

  /** @param name as whom it was tried */
  async refuse(ctx: Context, action: string, name: string, error: ServiceError): Promise<void> {
    const requestId = ctx.state.requestId as string;
    const ip = clientAddress(ctx);
    // Where all of an address are refused, it tries names as it likes: they are one entry.
    const isAboutAddress = error instanceof SignInThrottled && error.limit === 'address';
    const refusal: Rejection = {
      action,
      reason: error.code ?? error.name,
      name: isAboutAddress ? '' : name,
      address: addressBlock(ip),
    };
    this.#log.info({ request_id: requestId, refusal: { ...refusal, name, ip } }, 'audit: refused');
    await this.#refusals
      .record(refusal, requestId, Date.now())
      .catch((error: Error) =>
        this.#log.error({ request_id: requestId, err: error.message }, 'not in the list of refusals'),
      );
  }
}
