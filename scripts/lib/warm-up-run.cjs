// A process of warm-up.mjs: starts the command with each of the given lines, one after the other. The first is started by
// the launcher itself, which keeps at the end what all of them have compiled.
'use strict'
const { join } = require('node:path')
const [first, ...others] = process.argv.slice(2).map((line) => line.split(' '))
const launcher = join(__dirname, '../../bin/dragoman')
process.argv = [process.argv[0], launcher, ...first]
require(launcher)
process.on('beforeExit', () => {
  const next = others.shift()
  if (next) void require('../../dist/chunks/hot-start.cjs').startCli(next, () => undefined)
})
