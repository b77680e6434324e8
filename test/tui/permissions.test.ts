import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { stage } from '../support/command.ts'
import { noTmux, openTerminal } from '../support/tmux.ts'

/** A model that makes one command for each thing that is said, in an order of its own. */
async function open(commands: readonly string[], settings: (work: string) => object) {
  const call = (command: string) => ({ call: [{ name: 'run_shell_command', args: { command } }] })
  const here = await stage(commands.flatMap((command, at) => [call(command), { say: `Answer ${at + 1}.` }]))
  const place = join(here.home, '.config/dragoman')
  mkdirSync(place, { recursive: true })
  writeFileSync(join(place, 'config.json'), JSON.stringify(settings(realpathSync(here.work))))
  mkdirSync(join(here.work, '.dragoman'))
  writeFileSync(join(here.work, '.dragoman/config.json'), JSON.stringify({ policy: { deny: ['git clean'] } }))
  const args = ['--sandbox', 'off', '--allowed-tools', 'web_fetch(example.com)']
  const terminal = openTerminal(args, { ...here, columns: 110, rows: 60 })
  // What a project forbids holds without trust, too.
  await terminal.shows('1. Continue without them')
  terminal.press('Enter')
  await terminal.shows('Type a request.')
  const say = (text: string): void => {
    terminal.type(text)
    terminal.press('Enter')
  }
  const config = () => JSON.parse(readFileSync(join(place, 'config.json'), 'utf8')) as Record<string, unknown>
  return { ...here, terminal, say, config }
}

describe('/permissions', { skip: noTmux }, () => {
  test('lists every rule that decides, by where it holds, and takes back one', async () => {
    const { terminal, say, config } = await open(['make a', 'make b', 'make a', 'cargo doc'], (work) => ({
      policy: { ask: [{ rule: 'git push', matches: ['git push'] }], secretFiles: ['*.pem'] },
      sandboxOptions: { allowNetwork: ['npm ci'] },
      projects: { [work]: { policy: { allow: ['cargo doc *'] }, sandboxOptions: { allowOutside: ['xdg-open .'] } } },
    }))
    say('first')
    await terminal.shows('Run this?')
    terminal.press('a')
    const choices = await terminal.shows('always, in this session: exactly “make a”')
    terminal.press(/\[(\d)\] always, in this session: exactly/.exec(choices)?.[1] ?? '1')
    await terminal.shows('Answer 1.')
    await terminal.hides('working')
    say('/permissions')
    const listed = await terminal.shows('Built in:')
    const row = (pattern: string): string => {
      const found = new RegExp(`^ +(\\d+) ${pattern}\\s*$`, 'm').exec(listed)?.[1]
      assert.ok(found, `${pattern}\n${listed}`)
      return found
    }
    assert.match(
      listed,
      /In this session, until it ends\n[^]*In this project \(~\/\.config\/dragoman\/config\.json, under/,
    )
    row('allow +web_fetch\\(example\\.com\\)')
    row('deny +git clean')
    row('secret +\\*\\.pem')
    row('network +npm ci')
    row('outside +xdg-open \\.')
    const [session, project, user] = [row('allow +exactly “make a”'), row('allow +cargo doc \\*'), row('ask +git push')]
    assert.match(listed, /Built in: \d+ rules allow read-only commands, 4 deny/)

    say(`/permissions remove ${user}`)
    await terminal.shows('Removed: ask git push')
    say(`/permissions remove ${project}`)
    await terminal.shows('Removed: allow cargo doc *')
    say(`/permissions remove ${session}`)
    await terminal.shows('Removed: allow exactly “make a”')
    say(`/permissions remove ${row('deny +git clean')}`)
    await terminal.shows(/That rule is defined in .*\.dragoman\/config\.json; remove\s+it\s+there\./)
    say('/permissions remove 99')
    await terminal.shows('There is no rule 99')
    assert.doesNotMatch(JSON.stringify(config()), /git push|cargo doc/)
    assert.match(JSON.stringify(config()), /npm ci.*xdg-open/)

    // What was taken back is asked about again, at once: the rule of the session and that of the project.
    say('second')
    await terminal.shows('│ make b')
    terminal.press('Escape')
    await terminal.shows('Answer 2.')
    say('third')
    await terminal.shows('│ make a')
    terminal.press('Escape')
    await terminal.shows('Answer 3.')
    say('fourth')
    await terminal.shows('│ cargo doc')
    terminal.press('Escape')
    await terminal.shows('Answer 4.')
  })
})
