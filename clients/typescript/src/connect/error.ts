/** Codes of the service that pass by themselves. */
const PASSING = [
  'connect_gateway_closing',
  'internal',
  'memory_short',
  'overloaded',
  'too_many_connections',
  'unavailable',
];

/** The service could not be reached, or refuses the connection. */
export class ConnectError extends Error {
  override name = 'ConnectError';
  /** The service's error code, such as `credentials_invalid`; undefined: the service could not be reached. */
  readonly code: string | undefined;

  constructor(message: string, code?: string) {
    super(message);
    this.code = code;
  }

  /** Whether another try may succeed without a change of the app. */
  get passes(): boolean {
    return this.code === undefined || PASSING.includes(this.code);
  }
}
