/** New rows appear at once where the reader is at the top of the page; further down they would move what is read. */
const TOP_PX = 80;

export const isAtTop = () => window.scrollY < TOP_PX;
