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
  /** Where the platform stops the process with the answer: lets this work end. */
  waitUntil?: ((work: Promise<unknown>) => void) | undefined;
}
