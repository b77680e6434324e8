// npm run pictures: runs the command in a real terminal (tmux) and draws the screen, for the documentation.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensure } from './ensure.mjs'
import { inRoot } from './lib/files.mjs'
import { screenSvg } from './lib/screen-svg.mjs'

const place = mkdtempSync(join(tmpdir(), 'dragoman-pictures-'))
const tmux = (...args) => execFileSync('tmux', ['-S', join(place, 'socket'), ...args], { encoding: 'utf8' })
const screen = (name) => tmux('capture-pane', '-e', '-p', '-t', name)

/** Opens the command in a terminal of its own. */
function open(name, args, columns, rows) {
  const command = `env -i PATH='${process.env.PATH}' HOME='${place}' TERM=tmux-256color LANG=C.UTF-8 '${process.execPath}' '${inRoot('bin/dragoman')}' ${args}; sleep 60`
  tmux(
    '-f',
    '/dev/null',
    'new-session',
    '-d',
    '-s',
    name,
    '-x',
    String(columns),
    '-y',
    String(rows),
    '-c',
    place,
    command,
  )
}

async function shows(name, what, isThere = true) {
  for (let tries = 0; tries < 300; tries++) {
    if (tmux('capture-pane', '-p', '-t', name).includes(what) === isThere) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(
    `the screen ${isThere ? 'never showed' : 'went on to show'} ${what}:\n${tmux('capture-pane', '-p', '-t', name)}`,
  )
}

/** Removes paths of this machine from a picture. */
function save(session, name, columns, title) {
  const text = screen(session).replaceAll(/\/\S*\/dragoman-tour-\w+/g, '~/tour')
  writeFileSync(inRoot('docs/pictures', `${name}.svg`), screenSvg(text, columns, title))
  console.log(`docs/pictures/${name}.svg`)
}

if (await ensure()) {
  mkdirSync(inRoot('docs/pictures'), { recursive: true })
  try {
    open('edit', 'tour', 90, 32)
    await shows('edit', '[y] yes, once')
    save('edit', 'edit', 90, 'Dragoman asks before it changes a file, and shows the change')
    tmux('send-keys', '-t', 'edit', 'y')
    await shows('edit', 'Run this?')
    save('edit', 'command', 90, 'Dragoman asks before it runs a command, and says what “always” would cover')
    tmux('send-keys', '-t', 'edit', 'y')
    await shows('edit', 'The tour is over')
    await shows('edit', 'working', false)
    tmux('send-keys', '-t', 'edit', '/')
    await shows('edit', '/help')
    save('edit', 'commands', 90, 'The slash commands')
    open('first-run', '', 90, 12)
    await shows('first-run', 'How do I use a local model?')
    save('first-run', 'first-run', 90, 'The first page: three ways on without a key')
    open('narrow', 'tour', 60, 30)
    await shows('narrow', '[y] yes, once')
    save('narrow', 'narrow', 60, 'The same question in 60 columns')
  } finally {
    tmux('kill-server')
    rmSync(place, { recursive: true, force: true })
  }
}
