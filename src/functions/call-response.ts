/** A complete response of an app. */
import type { IncomingHttpHeaders } from 'node:http';

export interface CallResponse {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}
