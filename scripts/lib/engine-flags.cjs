// Becomes dist/chunks/engine-flags.cjs: flags of V8 that are set while the program runs.
'use strict'
const v8 = require('node:v8')

const SETS = {
  /**
   * V8 notes which types a function sees only after some calls, and is slow until then. A session executes most of its code once a
   * turn, so with this flag it does so at the first call. Before the first response that costs more than it saves.
   */
  session: { set: ['no-lazy-feedback-allocation'], reset: ['lazy-feedback-allocation'] },
  /**
   * V8 would optimise the shell parser, which is WebAssembly, in the background; that delays the end of the process by half a
   * second. Node 24 needs all three flags.
   */
  parser: {
    set: ['liftoff-only', 'no-wasm-tier-up', 'no-wasm-dynamic-tiering'],
    reset: ['no-liftoff-only', 'wasm-tier-up', 'wasm-dynamic-tiering'],
  },
}

const enabled = new Set()
let loading = 0

function apply(change) {
  for (const name of enabled) for (const flag of SETS[name][change]) v8.setFlagsFromString(`--${flag}`)
}

function beginLoad() {
  if (loading++ === 0) apply('reset')
}

function endLoad() {
  if (--loading === 0) apply('set')
}

exports.enable = (name) => {
  // Compiled code that is saved then is for a run without the flags.
  if (enabled.size === 0) process.prependOnceListener('exit', () => apply('reset'))
  enabled.add(name)
  if (loading === 0) apply('set')
}

/** Loads code without the flags: V8 refuses code that was compiled under others, also that of Node's own modules that comes with Node. */
exports.load = (read) => {
  beginLoad()
  try {
    return read()
  } finally {
    endLoad()
  }
}

exports.loadAsync = async (read) => {
  beginLoad()
  try {
    return await read()
  } finally {
    endLoad()
  }
}
