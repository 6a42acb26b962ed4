/** The package has no types of its own. */
declare module 'ejs' {
  const ejs: { renderFile(path: string, values: object): Promise<string> };
  export default ejs;
}
