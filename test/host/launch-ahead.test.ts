import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { createAllowedRoots } from '../../src/host/files/allowed-roots.ts'
import { localHost } from '../../src/host/local-host.ts'
import { createLocalSandbox } from '../../src/host/sandbox/sandbox.ts'
import { type BoxedPlace, boxedPlace, skipWithoutBox } from './box.ts'

/** Longer than the next shell takes, so that there is one when a command is prepared. */
const SHELL_STARTED_MS = 100
/** Longer than what is prepared may be used. */
const EXPIRED_MS = 400

async function prepare({ host, ws }: BoxedPlace): Promise<void> {
  host.processes.onIdle?.()
  await wait(SHELL_STARTED_MS)
  await host.processes.prepare?.(ws)
}

describe('a sandbox that is prepared before its command', async () => {
  const skip = await skipWithoutBox()

  test('is like any other: commands run, and protected paths stay protected', { skip }, async () => {
    using at = boxedPlace()
    await at.run('true')
    for (const round of [1, 2, 3]) {
      await prepare(at)
      const { output, sandboxed } = await at.run(`echo ${round}; cat "$HOME/.ssh/id_rsa"`)
      assert.match(output, new RegExp(`^${round}\n`))
      assert.doesNotMatch(output, /canary/)
      assert.equal(sandboxed, true)
    }
    await prepare(at)
    const { notes = [] } = await at.run('echo mine > AGENTS.md')
    assert.match(notes.join('\n'), /AGENTS\.md is protected/)
    assert.equal(existsSync(join(at.ws, 'AGENTS.md')), false)
  })

  test('is prepared anew after an approved write', { skip }, async () => {
    using at = boxedPlace()
    await at.run('true')
    await prepare(at)
    await at.host.files.write(join(at.ws, 'AGENTS.md'), Buffer.from('approved\n'))
    const { output, notes } = await at.run('cat AGENTS.md; echo changed > AGENTS.md')
    assert.match(output, /^approved\n/)
    assert.equal(notes, undefined)
    assert.equal(readFileSync(join(at.ws, 'AGENTS.md'), 'utf8'), 'approved\n')
  })

  test('is prepared anew if somebody has created a protected file meanwhile', { skip }, async () => {
    using at = boxedPlace()
    mkdirSync(join(at.ws, '.vscode'))
    await at.run('true')
    for (const name of ['AGENTS.md', '.vscode/settings.json']) {
      await prepare(at)
      writeFileSync(join(at.ws, name), "the user's\n")
      const { notes } = await at.run(`echo changed > ${name}; true`)
      assert.equal(notes, undefined)
      assert.equal(readFileSync(join(at.ws, name), 'utf8'), "the user's\n")
    }
  })

  // The system counts time in ticks of some milliseconds: another change in the same one would not be seen.
  test('is not trusted if a folder changed just before', { skip }, async () => {
    using at = boxedPlace()
    const { ws, scratch, home } = at
    const paths = { folders: [ws], scratch }
    const sandbox = createLocalSandbox({ mode: 'on', home }, paths, createAllowedRoots(paths))
    const isCurrentAfterChange = async (pauseMs: number): Promise<boolean | undefined> => {
      mkdtempSync(join(ws, 'folder-'))
      await wait(pauseMs)
      const launch = await sandbox.prepareLaunch(ws, { firstDescriptor: 5 })
      const isCurrent = launch?.isCurrent()
      launch?.closeDescriptors()
      launch?.release()
      return isCurrent
    }
    assert.equal(await isCurrentAfterChange(50), true)
    let found: boolean | undefined
    // A busy machine may need longer than a tick.
    for (let attempt = 0; attempt < 50 && found !== false; attempt++) found = await isCurrentAfterChange(0)
    assert.equal(found, false)
    sandbox.close()
  })

  test('does not show a key that somebody has stored meanwhile', { skip }, async () => {
    using at = boxedPlace()
    const { home, scratch } = at
    const host = localHost({ folders: [home], scratch, sandbox: { mode: 'on', home } })
    const atHome = { ...at, host, ws: home }
    const run = (command: string) => host.processes.run({ command, folder: home })
    mkdirSync(join(home, '.gradle'))
    try {
      await run('true')
      for (const name of ['.vault-token', '.cargo/credentials', '.config/gh', '.gradle/gradle.properties']) {
        await prepare(atHome)
        writeFileSync(join(home, name), 'canary-new\n')
        assert.doesNotMatch((await run(`cat ${name}`)).output, /canary/, name)
      }
    } finally {
      host.close()
    }
  })

  test('is dropped if the command does not come soon', { skip }, async () => {
    using at = boxedPlace()
    await at.run('true')
    await prepare(at)
    await wait(EXPIRED_MS)
    writeFileSync(join(at.ws, 'AGENTS.md'), "the user's\n")
    const { notes } = await at.run('echo changed > AGENTS.md; true')
    assert.equal(notes, undefined)
    assert.equal(readFileSync(join(at.ws, 'AGENTS.md'), 'utf8'), "the user's\n")
  })

  test('changes nothing before the first command', { skip }, async () => {
    using at = boxedPlace()
    mkdirSync(join(at.ws, '.git'))
    await prepare(at)
    assert.equal(existsSync(join(at.ws, '.git/hooks')), false)
  })
})
