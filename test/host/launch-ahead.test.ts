import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { createAllowedRoots } from '../../src/host/files/allowed-roots.ts'
import { createLocalSandbox } from '../../src/host/sandbox/sandbox.ts'
import { type BoxedPlace, boxedPlace, skipWithoutBox } from './box.ts'

/** Longer than the next shell takes, so that there is one when a command is prepared. */
const SHELL_STARTED_MS = 100
/** Longer than what is prepared may be used. */
const EXPIRED_MS = 400

/** The machine may be busy, and its sockets come and go. */
async function untilTrue(check: () => Promise<boolean | undefined>): Promise<boolean> {
  for (let attempt = 0; attempt < 50; attempt++) if (await check()) return true
  return false
}

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

  describe('is not used', () => {
    /** Prepares a launch, and tells whether it is current after a change. */
    async function isCurrentAfter(change: (at: BoxedPlace) => void, prepareFiles: (at: BoxedPlace) => void) {
      using at = boxedPlace()
      const paths = { folders: [at.ws], scratch: at.scratch }
      const sandbox = createLocalSandbox({ mode: 'on', home: at.home }, paths, createAllowedRoots(paths))
      try {
        prepareFiles(at)
        await wait(50)
        const launch = await sandbox.prepareLaunch(at.ws, { firstDescriptor: 5 })
        change(at)
        const isCurrent = launch?.isCurrent()
        launch?.closeDescriptors()
        launch?.release()
        return isCurrent
      } finally {
        sandbox.close()
      }
    }
    const none = (): undefined => undefined
    const credentials = (at: BoxedPlace): string => join(at.home, '.gem/credentials')
    const addCredentials = (at: BoxedPlace): void => writeFileSync(credentials(at), 'canary\n')

    test('if a key was stored in a folder that is shown', { skip }, async () => {
      const makeFolder = (at: BoxedPlace): void => mkdirSync(join(at.home, '.gem'))
      assert.equal(await isCurrentAfter(addCredentials, makeFolder), false)
    })

    test('if a covered file was replaced, because the system then removes its cover', { skip }, async () => {
      const makeFile = (at: BoxedPlace): void => {
        mkdirSync(join(at.home, '.gem'))
        addCredentials(at)
      }
      const replace = (at: BoxedPlace): void => {
        writeFileSync(`${credentials(at)}.new`, 'canary\n')
        renameSync(`${credentials(at)}.new`, credentials(at))
      }
      assert.equal(await isCurrentAfter(replace, makeFile), false)
      assert.equal(await untilTrue(() => isCurrentAfter(none, makeFile)), true)
    })

    // The system counts time in ticks of some milliseconds: another change in the same one would not be seen.
    test('if a folder changed just before', { skip }, async () => {
      using at = boxedPlace()
      const paths = { folders: [at.ws], scratch: at.scratch }
      const sandbox = createLocalSandbox({ mode: 'on', home: at.home }, paths, createAllowedRoots(paths))
      try {
        // A busy machine may need longer than a tick.
        const isLate = await untilTrue(async () => {
          mkdtempSync(join(at.ws, 'folder-'))
          const launch = await sandbox.prepareLaunch(at.ws, { firstDescriptor: 5 })
          const isCurrent = launch?.isCurrent()
          launch?.closeDescriptors()
          launch?.release()
          return isCurrent === false
        })
        assert.equal(isLate, true)
      } finally {
        sandbox.close()
      }
    })
  })

  test('does not show a key that somebody has stored meanwhile', { skip }, async () => {
    using at = boxedPlace()
    mkdirSync(join(at.home, '.gem'))
    await at.run('true')
    await prepare(at)
    writeFileSync(join(at.home, '.gem/credentials'), 'canary-new\n')
    const { output } = await at.run(`ls '${at.home}/.gem'; cat '${at.home}/.gem/credentials'`)
    assert.match(output, /^credentials$/m)
    assert.doesNotMatch(output, /canary/)
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
