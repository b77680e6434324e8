// Starting other programs.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { inRoot, root } from './files.mjs'

/**
 * Runs Node with the given arguments in the repository and waits for its end.
 * With `quiet` its output is kept and returned; otherwise it goes to the terminal.
 */
export function runNode(args, { quiet = false, env = process.env } = {}) {
  return start(process.execPath, args, { stdio: quiet ? ['ignore', 'pipe', 'pipe'] : 'inherit', env })
}

/** Runs npm; all that it prints goes to stderr, because stdout belongs to the command that the user started. */
export function runNpm(args) {
  const npm = process.env.npm_execpath
  const options = { stdio: ['ignore', process.stderr, process.stderr] }
  if (npm?.endsWith('npm-cli.js')) return start(process.execPath, [npm, ...args], options)
  return start('npm', args, { ...options, shell: process.platform === 'win32' })
}

/** The script behind a command of an installed package, to be run with Node: this is quicker than npx. */
export function binOf(name, command = name) {
  const manifest = inRoot('node_modules', name, 'package.json')
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8'))
  return resolve(dirname(manifest), typeof bin === 'string' ? bin : bin[command])
}

function start(program, args, options) {
  return new Promise((done, failed) => {
    const child = spawn(program, args, { cwd: root, ...options })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text) => {
        output += text
      })
    }
    child.on('error', failed)
    child.on('close', (code) => done({ ok: code === 0, code: code ?? 1, output }))
  })
}
