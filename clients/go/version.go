package tidegate

// Version of this library.
const Version = "0.1.0"
