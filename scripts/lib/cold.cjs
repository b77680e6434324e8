// Becomes dist/chunks/cold.cjs: loads the chunks that are in no group.
'use strict'
const v8 = require('node:v8')

/**
 * V8 would optimise the shell parser, which is WebAssembly, in the background; that delays the end of the process by half a
 * second. Node 24 needs all three flags. They are not set before the parser is needed: V8 refuses code that was compiled
 * under other flags, also the compiled code of Node's own modules that comes with Node.
 */
const FLAGS = ['liftoff-only', 'no-wasm-tier-up', 'no-wasm-dynamic-tiering']
const USUAL_FLAGS = ['no-liftoff-only', 'wasm-tier-up', 'wasm-dynamic-tiering']
const set = (flags) => flags.forEach((flag) => v8.setFlagsFromString(`--${flag}`))

module.exports = (path) => {
  if (path.includes('bash-parser')) {
    set(FLAGS)
    // Compiled code that is saved then is for a run without the flags.
    process.prependOnceListener('exit', () => set(USUAL_FLAGS))
  }
  return import(path)
}
