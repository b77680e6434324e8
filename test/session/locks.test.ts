import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { after, test } from 'node:test'
import { updatePrivateFile } from '../../src/agent/user-files/private-file.ts'
import { jsonlStore } from '../../src/session/store/jsonl-store.ts'
import { StoreError } from '../../src/session/store/store.ts'
import { until } from '../support/alive.ts'
import { clearAway } from '../support/clear.ts'
import { root as repository } from '../support/paths.ts'
import { dragoman, stage } from '../support/command.ts'

/** This file is its own crowd: started with these words, it adds a note to a session as soon as it gets in. */
const [, , role, place = '', number = ''] = process.argv
if (role === '--member') await addNote(place, number)
else locks()

async function addNote(folder: string, text: string): Promise<void> {
  for (;;) {
    try {
      const log = await jsonlStore(folder).open('log')
      log.append({ kind: 'note', text })
      await log.flush()
      await log.close()
      return
    } catch (error) {
      if (!(error instanceof StoreError) || error.code !== 'in-use') throw error
      await new Promise((resolve) => setTimeout(resolve, 5 + Math.random() * 20))
    }
  }
}

function locks(): void {
  const root = mkdtempSync(join(tmpdir(), 'dragoman-locks-'))
  after(() => clearAway(root))

  /** A session, and the file that locks it. */
  async function session(): Promise<{ folder: string; lock: string; store: ReturnType<typeof jsonlStore> }> {
    const folder = mkdtempSync(join(root, 'folder-'))
    const store = jsonlStore(folder)
    await (await store.create({ id: 'log', folder: '/' })).close()
    return { folder, lock: join(folder, 'log.lock'), store }
  }

  test('50 processes and one session, whose last holder was killed: one at a time, and nothing is lost', async () => {
    const { folder, lock, store } = await session()
    writeFileSync(lock, '999999999 1')
    const members = Array.from({ length: 50 }, (_, at) => {
      const child = spawn(process.execPath, [fileURLToPath(import.meta.url), '--member', folder, String(at)], {
        stdio: ['ignore', 'ignore', 'inherit'],
        env: {},
      })
      return new Promise<number | null>((resolve) => child.on('close', resolve))
    })
    assert.deepEqual(new Set(await Promise.all(members)), new Set([0]))
    const { entries, damages } = await store.read('log')
    assert.deepEqual(damages, [])
    assert.deepEqual(
      entries.map(({ seq }) => seq),
      Array.from({ length: 51 }, (_, at) => at + 1),
    )
    assert.equal(new Set(entries.flatMap((entry) => (entry.kind === 'note' ? [entry.text] : []))).size, 50)
    assert.deepEqual(
      readdirSync(folder).filter((name) => name !== 'log.jsonl'),
      [],
      'no lock is left',
    )
  })

  test('a zombie holds nothing', { skip: !existsSync('/proc/self/stat') && 'there is no /proc here' }, async () => {
    // The shell becomes a program that never asks how its child ended.
    const parent = spawn('sh', ['-c', "sh -c 'echo $$' & exec sleep 300"], { stdio: ['ignore', 'pipe', 'ignore'] })
    try {
      const pid = await new Promise<number>((resolve) => parent.stdout.once('data', (text) => resolve(Number(text))))
      const fields = (): string[] => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
      await until(() => fields()[0] === 'Z', 60_000)
      const { lock, store } = await session()
      writeFileSync(lock, `${pid} ${fields()[19]}`)
      await (await store.open('log')).close()
    } finally {
      parent.kill('SIGKILL')
    }
  })

  test('a holder of another boot is gone; one of another machine may live, and is asked about', async () => {
    const { lock, store } = await session()
    const log = await store.open('log')
    const mark = readFileSync(lock, 'utf8')
    await log.close()
    const [pid, start, where = ''] = mark.split(' ')
    const [boot = '', namespace = '', machine = '', host = ''] = where.split(':')
    const held = (...fields: string[]): void => writeFileSync(lock, `${pid} ${start} ${fields.join(':')}`)
    held(boot, namespace, machine, host)
    await assert.rejects(() => store.open('log', { takeOver: true }), /in use by process \d+; end that/)
    if (boot !== '') {
      held('another-boot', namespace, machine, host)
      await (await store.open('log')).close()
      held(boot, '17', machine, host)
      await assert.rejects(() => store.open('log'), /in another container.*--take-over/)
    }
    held('another-boot', namespace, 'another-machine', 'far-away')
    await assert.rejects(() => store.open('log'), /process \d+ of far-away.*--take-over/)
    const taken = await store.open('log', { takeOver: true })

    // Whoever had it before notices, and stops.
    held('another-boot', namespace, 'another-machine', 'far-away')
    taken.append({ kind: 'user', parts: [{ kind: 'text', text: 'hi' }], prompt: 'log#1' })
    await assert.rejects(taken.flush(), /was taken over by another process/)
    assert.throws(() => taken.append({ kind: 'note', text: 'x' }), /was taken over/)
    await taken.close()
    assert.match(readFileSync(lock, 'utf8'), /far-away/, 'the lock of the other one stays')
  })

  test('a file of ours that a container was changing when it ended can be changed again', () => {
    const path = join(root, 'config.json')
    writeFileSync(`${path}.lock`, '7 8 another-boot:1:another-machine:far-away')
    updatePrivateFile(path, () => '{}')
    assert.equal(readFileSync(path, 'utf8'), '{}')
    assert.ok(!existsSync(`${path}.lock`))
  })

  const UNSHARE = ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child']
  const noNamespaces =
    spawnSync(UNSHARE[0] ?? '', [...UNSHARE.slice(1), 'true']).status === 0 ? false : 'unshare --pid does not work here'

  test(
    'two PID namespaces that share a home: the second is refused, and can take over',
    { skip: noNamespaces },
    async () => {
      const wait = 'echo EFFECT >> {cwd}/effects; while [ ! -e {cwd}/go ]; do sleep 0.1; done'
      const here = await stage({
        steps: [{ say: 'I run it.', call: [{ name: 'run_shell_command', args: { command: wait } }] }],
        end: { say: 'Well.' },
      })
      const free = ['--yolo', '--sandbox', 'off']
      const inContainer = (args: string[]) => {
        const [program = '', ...words] = [
          ...UNSHARE,
          process.execPath,
          join(repository, 'bin/dragoman'),
          ...args,
          ...free,
        ]
        const child = spawn(program, words, { cwd: here.work, env: here.env, stdio: ['ignore', 'pipe', 'pipe'] })
        let err = ''
        child.stderr.on('data', (text: Buffer) => (err += text.toString()))
        child.stdout.resume()
        const ended = new Promise<{ code: number | null; err: string }>((resolve) =>
          child.on('close', (code) => resolve({ code, err })),
        )
        return { child, ended }
      }
      const first = inContainer(['-p', 'go'])
      await until(() => existsSync(join(here.work, 'effects')), 60_000)
      for (const prompt of [[], ['-p', 'me too']]) {
        const second = await inContainer([...prompt, '--resume']).ended
        assert.equal(second.code, 42, second.err)
        assert.match(second.err, /in use by process \d+ of .*--take-over/)
      }
      first.child.kill('SIGKILL')
      await first.ended
      assert.equal((await inContainer(['-p', 'on', '--resume']).ended).code, 42)
      const taken = await inContainer(['-p', 'on', '--resume', '--take-over']).ended
      assert.equal(taken.code, 0, taken.err)
      assert.match(JSON.stringify(here.server.requests.at(-1)?.body), /It may have had an effect/)
      assert.equal(readFileSync(join(here.work, 'effects'), 'utf8'), 'EFFECT\n')
      assert.equal((await dragoman(['-p', 'here', '--resume', ...free], here)).code, 0)
      assert.equal((await dragoman(['-p', 'x', '--take-over'], here)).code, 42)
    },
  )
}
