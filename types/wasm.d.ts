/** The path of a WebAssembly file beside the bundle, relative to the file that imports it. */
declare module '*.wasm' {
  const path: string
  export default path
}
