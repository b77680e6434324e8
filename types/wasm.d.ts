/** WebAssembly: in the command the path of a file, relative to the file that imports it; in the library the bytes. */
declare module '*.wasm' {
  const wasm: string | Uint8Array
  export default wasm
}
