/** Before npm compiles isolated-vm, which fails after minutes with an older Node; `engines` alone only warns. */
const OLDEST = 24;

if (Number.parseInt(process.versions.node, 10) < OLDEST) {
  console.error(
    `tidegate-service needs Node ${OLDEST} or newer; found ${process.version}. Install it from https://nodejs.org/en/download`,
  );
  process.exit(1);
}
