import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfigFile } from '../../src/cli/config/read.ts'
import { keysFile } from '../../src/cli/keys-file.ts'
import type { Plays } from '../support/faults.ts'

/** Settings, trust and keys, written by processes that are killed or that are many. */
export const settingsPlays: Plays = {
  'fa-068': async (fault) => {
    const home = mkdtempSync(join(tmpdir(), 'dragoman-settings-'))
    try {
      const runs = Number(fault.inject['runs'])
      for (let run = 0; run < runs; run += AT_ONCE) {
        await Promise.all(Array.from({ length: AT_ONCE }, (_, at) => killed(join(home, String(at)), run + at)))
      }
    } finally {
      rmSync(home, { recursive: true, force: true })
    }
  },
  'fa-096': async (fault) => {
    const home = mkdtempSync(join(tmpdir(), 'dragoman-settings-'))
    try {
      const writers = Number(fault.inject['writers'])
      const each = Number(fault.inject['runs']) / writers
      const all = Array.from({ length: writers }, (_, at) => start('change', home, `${at}`, `${each}`))
      assert.deepEqual(await Promise.all(all.map(end)), Array(writers).fill(0))
      const rules = readConfigFile(join(home, 'config/dragoman/config.json'))?.policy?.allow ?? []
      assert.equal(new Set(rules).size, writers * each, 'a change was lost')
      assert.deepEqual(readdirSync(join(home, 'config/dragoman')), ['config.json'])
    } finally {
      rmSync(home, { recursive: true, force: true })
    }
  },
}

const AT_ONCE = 4

/** Kills a process while it writes, and looks at the three files: each is there, whole, and old or new. */
async function killed(home: string, run: number): Promise<void> {
  const child = start('write', home)
  child.stdout?.once('data', () => setTimeout(() => child.kill('SIGKILL'), run % 20))
  await end(child)
  const settings = readConfigFile(join(home, 'config/dragoman/config.json'))
  assert.match(settings?.model ?? '', /^a\/(?:old|new)-x{20000}$/)
  assert.deepEqual(settings?.policy?.allow, ['kept'])
  const trust = JSON.parse(readFileSync(join(home, 'data/dragoman/trust.json'), 'utf8')) as Record<string, string>
  assert.deepEqual(Object.keys(trust), [process.cwd()])
  const keys = keysFile(join(home, 'data/dragoman/keys.json'))
  assert.match(JSON.stringify(keys.get('openai')), /"(?:old|new)-/)
  assert.deepEqual(keys.get('gemini'), { kind: 'key', key: 'kept' })
}

function start(...words: string[]): ChildProcess {
  const home = words[1] ?? ''
  const env = { XDG_CONFIG_HOME: join(home, 'config'), XDG_DATA_HOME: join(home, 'data') }
  return spawn(process.execPath, [process.argv[1] ?? '', '--child', ...words], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

function end(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => {
    child.once('close', resolve)
  })
}
