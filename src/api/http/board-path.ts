/** Path of Bull Board. */
export const BOARD_PATH = '/queues';

export function isBoard(path: string): boolean {
  return path === BOARD_PATH || path.startsWith(`${BOARD_PATH}/`);
}
