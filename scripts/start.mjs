// npm start: makes the checkout ready, then runs the command with the given arguments.
import { createRequire } from 'node:module'
import { ensure } from './ensure.mjs'
import { inRoot } from './lib/files.mjs'

if (await ensure()) {
  // In this process, as if bin/dragoman itself had been started: no second process between the terminal and the command.
  const args = process.argv.slice(2)
  process.argv = [process.argv[0], inRoot('bin/dragoman'), ...args]
  createRequire(import.meta.url)('../bin/dragoman')
} else {
  process.exitCode = 1
}
