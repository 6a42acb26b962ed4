/** A request whose body comes in two halves, so that something can happen between its authorization and its end. */
import { type ClientRequest, request } from 'node:http';
import type { HttpResponse } from './http.ts';

export interface SlowRequest {
  /** Sends the other half. */
  finish(): Promise<Pick<HttpResponse, 'status' | 'body'>>;
  abort(): void;
}

export function slowPost(url: string, body: object, headers: Record<string, string>): SlowRequest {
  const text = JSON.stringify(body);
  const length = String(Buffer.byteLength(text));
  const options = {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-length': length, ...headers },
  };
  const sent = request(url, options);
  const response = responseOf(sent);
  response.catch(() => undefined);
  sent.write(text.slice(0, 1));
  return {
    finish() {
      sent.end(text.slice(1));
      return response;
    },
    abort: () => sent.destroy(),
  };
}

async function responseOf(sent: ClientRequest): Promise<Pick<HttpResponse, 'status' | 'body'>> {
  const { promise, resolve, reject } = Promise.withResolvers<Pick<HttpResponse, 'status' | 'body'>>();
  sent.once('error', reject);
  sent.once('response', (response) => {
    let text = '';
    response.setEncoding('utf8');
    response.on('data', (part) => (text += part));
    response.once('end', () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) }));
    response.once('error', reject);
  });
  return promise;
}
