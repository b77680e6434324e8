import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { readConfigFile } from '../../src/cli/config/read-settings.ts'
import { openCredentialFile } from '../../src/agent/user-files/credential-file.ts'
import type { ScriptStep } from '../../src/rehearsal/script/script.ts'
import { boxedPlace, skipWithoutBox } from '../host/box.ts'
import { dragoman, type Ended, stage } from '../support/command.ts'
import type { Plays } from '../support/faults.ts'
import { clearAway } from '../support/clear.ts'

/** Settings that are wrong, or not the person's own; and settings, trust and keys, written by who is killed or by many. */
export const settingsPlays: Plays = {
  'fa-068': async (fault) => {
    const home = mkdtempSync(join(tmpdir(), 'dragoman-settings-'))
    try {
      const runs = Number(fault.inject['runs'])
      const lane = async (at: number): Promise<void> => {
        for (let run = at; run < runs; run += AT_ONCE) await killed(join(home, String(at)), run)
      }
      await Promise.all(Array.from({ length: AT_ONCE }, (_, at) => lane(at)))
    } finally {
      clearAway(home)
    }
  },
  'fa-096': async (fault) => {
    const home = mkdtempSync(join(tmpdir(), 'dragoman-settings-'))
    try {
      const writers = Number(fault.inject['writers'])
      const each = Number(fault.inject['runs']) / writers
      const all = Array.from({ length: writers }, (_, at) => start('change', home, `${at}`, `${each}`))
      assert.deepEqual(await Promise.all(all.map(whenEnded)), Array(writers).fill(0))
      const rules = readConfigFile(join(home, 'config/dragoman/config.json'))?.policy?.allow ?? []
      assert.equal(new Set(rules).size, writers * each, 'a change was lost')
      assert.deepEqual(readdirSync(join(home, 'config/dragoman')), ['config.json'])
    } finally {
      clearAway(home)
    }
  },
  'fa-124': async () => {
    const here = await stage([{ say: 'Fine.' }])
    const path = userSettings(here)
    const text = '{"policy": {"allow": ["toString"], "ask": ["__proto__"], "deny": ["constructor", "hasOwnProperty"]}}'
    put(path, text)
    await saysFine(here)
    assert.equal(readFileSync(path, 'utf8'), text)
    const { out } = await dragoman(['config'], here)
    for (const name of ['toString', '__proto__', 'constructor']) assert.ok(out.includes(`"${name}"`), out)
  },
  'fa-125': async () => {
    for (const odd of ['huge', 'device', 'pipe'] as const) {
      const here = await stage([{ say: 'Never asked.' }])
      const path = userSettings(here)
      put(path, '')
      if (odd === 'huge') truncateSync(path, 2 ** 31)
      else {
        rmSync(path)
        if (odd === 'device') symlinkSync('/dev/zero', path)
        else spawnSync('mkfifo', [path])
      }
      const ended = await dragoman(['-p', 'hi'], here)
      assert.deepEqual([ended.code, ended.out], [52, ''])
      assert.match(ended.err, /^dragoman: .*config\.json cannot be used: .*(?:too large|not a regular file).*\n$/)
    }
  },
  'fa-126': async () => {
    const here = await stage([writes('made.txt'), { say: 'Fine.' }])
    put(userSettings(here), '{"policy": {"deny": ["write_file"]}}')
    put(join(here.work, '.dragoman/config.json'), '{"approvalMode": "yolo", "policy": {"allow": ["write_file"]}}')
    const ended = await saysFine(here)
    assert.match(ended.err, /are ignored because this folder is not trusted/)
    // Even whoever trusts the folder keeps the rules of their own.
    await dragoman(['trust', '--yes'], here)
    await saysFine(here)
    assert.equal(existsSync(join(here.work, 'made.txt')), false)
  },
  'fa-127': async () => {
    const here = await stage([writes('made.txt'), { say: 'Fine.' }])
    const text = '{"approvalMode": "yolo", "model": "nowhere/at-all"}'
    put(join(here.work, '.dragoman/config.json'), text)
    const ended = await saysFine(here)
    assert.match(ended.err, /are ignored because this folder is not trusted/)
    assert.equal(existsSync(join(here.work, 'made.txt')), false)
    assert.equal(readFileSync(join(here.work, '.dragoman/config.json'), 'utf8'), text)
  },
  'fa-128': async () => {
    const here = await stage([{ say: 'Never asked.' }])
    const env = { ...here.env, PATH: here.home }
    const ended = await dragoman(['-p', 'hi', '--sandbox', 'on'], { ...here, env })
    assert.deepEqual([ended.code, ended.out], [52, ''])
    assert.match(ended.err, /cannot run in a sandbox here: .*--sandbox off/)
    assert.equal(here.server.requests.length, 0)
  },
  'fa-129': async (_fault, t) => {
    const hindered = await skipWithoutBox()
    if (hindered !== false) return t.skip(hindered)
    using at = boxedPlace()
    const end = await at.run(
      'mkdir -p .dragoman .git/hooks; echo x > .dragoman/config.json; echo x > .git/hooks/pre-commit',
    )
    for (const path of ['.dragoman/config.json', '.git/hooks/pre-commit'])
      assert.equal(existsSync(join(at.ws, path)), false)
    for (const path of ['.dragoman', '.git/hooks'])
      assert.ok(
        end.notes?.some((note) => note.includes(path)),
        end.notes?.join(),
      )
  },
}

type Here = Awaited<ReturnType<typeof stage>>

const userSettings = (here: Here): string => join(here.home, '.config/dragoman/config.json')

const writes = (path: string): ScriptStep => ({
  call: [{ name: 'write_file', args: { file_path: `{cwd}/${path}`, content: 'x' } }],
})

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

async function saysFine(here: Here): Promise<Ended> {
  const ended = await dragoman(['-p', 'hi'], here)
  assert.deepEqual([ended.out, ended.code], ['Fine.\n', 0], ended.err)
  return ended
}

const AT_ONCE = 4

/** Kills a process while it writes, and looks at the three files: each is there, whole, and old or new. */
async function killed(home: string, run: number): Promise<void> {
  const child = start('write', home)
  child.stdout?.once('data', () => setTimeout(() => child.kill('SIGKILL'), run % 20))
  await whenEnded(child)
  const settings = readConfigFile(join(home, 'config/dragoman/config.json'))
  assert.match(settings?.model ?? '', /^a\/(?:old|new)-x{20000}$/)
  assert.deepEqual(settings?.policy?.allow, ['kept'])
  const trust = JSON.parse(readFileSync(join(home, 'data/dragoman/trust.json'), 'utf8')) as Record<string, string>
  assert.deepEqual(Object.keys(trust), [process.cwd()])
  const keys = openCredentialFile(join(home, 'data/dragoman/keys.json'))
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

function whenEnded(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => {
    child.once('close', resolve)
  })
}
