/** How the function client calls functions of apps that connect (docs/connect.md). `jobs/connect` implements it. */
import type { AppFunction } from '../../model/apps/app.ts';
import type { CallContext } from '../call-request.ts';
import type { CallResponse } from '../http-post.ts';

export interface ConnectTransport {
  /** Resolves to the reply, over as many connections as needed.
   *  @throws NoConnection, ConnectionLost, DOMException TimeoutError */
  call(fn: AppFunction, context: CallContext, body: string, trace: Record<string, string>): Promise<CallResponse>;

  /** Leaves all calls to other workers. */
  abandon(): void;
}

/** No connection accepts the call now. Not an attempt: the call waits for a connection. */
export class NoConnection extends Error {
  override name = 'NoConnection';
  /** The version of the app that a connection must have; undefined: any. */
  readonly version: string | undefined;

  constructor(message?: string, version?: string) {
    super(message);
    this.version = version;
  }
}

/** The instance that worked on the call has stopped extending its lease. */
export class ConnectionLost extends Error {
  override name = 'ConnectionLost';
}
