/** Why a search is rejected, and at which position. */
export class SearchError extends Error {
  /** Number of characters before the problem. */
  readonly position: number;

  constructor(message: string, position: number) {
    super(message);
    this.position = position;
  }
}
