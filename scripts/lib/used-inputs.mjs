/** The files whose code is in an output of esbuild; what was left out because nobody uses it does not count. */
export function usedInputs({ inputs }) {
  return Object.keys(inputs).filter((path) => inputs[path].bytesInOutput > 0)
}
