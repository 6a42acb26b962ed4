/** A request to the app, independent of the web framework. */
export interface AppRequest {
  method: string;
  /** Original path and query. */
  url: string;
  /** Whether the connection uses TLS. */
  secure: boolean;
  header(name: string): string | undefined;
  /** The raw body (preferred), or a parsed body. */
  body(): Promise<Buffer | string | object>;
  /** Lets this work end on a platform that otherwise stops the process with the response. */
  waitUntil?: ((work: Promise<unknown>) => void) | undefined;
}
