/** Why a search is refused, and where. */
export class SearchError extends Error {
  /** Characters before the place, counted from 0. */
  readonly position: number;

  constructor(message: string, position: number) {
    super(message);
    this.position = position;
  }
}
