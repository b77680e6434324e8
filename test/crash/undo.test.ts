import assert from 'node:assert/strict'
import { cpSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { dragoman, stage } from '../support/command.ts'
import { preload } from '../support/preload.ts'

/** Kills the command at the n-th change that it makes to a file, before or after it is made. */
function killAt(change: number): Record<string, string> {
  return preload(`let count = 0
    const die = () => void (++count === ${change} && process.kill(process.pid, 'SIGKILL'))
    for (const name of ['writeSync', 'renameSync', 'unlinkSync', 'rmSync', 'rmdirSync', 'linkSync']) {
      const real = fs[name]
      fs[name] = (...args) => {
        die()
        const given = real(...args)
        die()
        return given
      }
    }`)
}

test(
  'undo that is killed at each change it makes: a second undo puts everything back',
  { timeout: 600_000 },
  async () => {
    const file = (name: string, content: string) => ({
      name: 'write_file',
      args: { file_path: `{cwd}/${name}`, content },
    })
    const here = await stage([{ call: [file('a.txt', 'changed'), file('new/b.txt', 'made')] }, { say: 'Done.' }])
    writeFileSync(join(here.work, 'a.txt'), 'as it was')
    assert.equal((await dragoman(['-p', 'go', '--yolo', '--sandbox', 'off'], here)).code, 0)
    const [home, work] = [mkdtempSync(`${here.home}-kept-`), mkdtempSync(`${here.work}-kept-`)]
    cpSync(here.home, home, { recursive: true })
    cpSync(here.work, work, { recursive: true })
    let killed = 0
    for (let change = 1; ; change++) {
      cpSync(home, here.home, { recursive: true, force: true })
      cpSync(work, here.work, { recursive: true, force: true })
      const first = await dragoman(['undo', '--yes'], { ...here, env: { ...here.env, ...killAt(change) } })
      if (first.code === 0) break
      assert.equal(first.code, null, first.err)
      killed++
      const second = await dragoman(['undo', '--yes'], here)
      assert.equal(second.code, 0, `change ${change}: ${second.err}`)
      assert.equal(readFileSync(join(here.work, 'a.txt'), 'utf8'), 'as it was', `change ${change}`)
      assert.ok(!existsSync(join(here.work, 'new')), `change ${change}: what was made is still there`)
    }
    console.log(`killed at each of ${killed} changes`)
    assert.ok(killed > 10, `${killed} changes`)
  },
)
