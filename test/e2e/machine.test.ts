import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { dragoman, stage } from '../support/command.ts'
import { root } from '../support/paths.ts'

const HELLO = [{ loop: [{ say: 'Hello yourself.' }] }]
const noMounts = spawnSync('unshare', ['-rm', 'true']).status === 0 ? false : 'nothing can be mounted here'

/** Runs the command with its home on a disk that is prepared by a shell line. */
function onDisk(here: Awaited<ReturnType<typeof stage>>, prepare: string, args: readonly string[]) {
  const disk = mkdtempSync(join(here.home, 'disk-'))
  const program = [process.execPath, join(root, 'bin/dragoman'), ...args].map((word) => `'${word}'`).join(' ')
  const mounted = `mount -t tmpfs -o size=64k none ${disk} && cd ${disk} && ${prepare} && cd '${here.work}' && ${program}`
  const { status, stdout, stderr } = spawnSync('unshare', ['-rm', 'sh', '-c', mounted], {
    cwd: here.work,
    env: { ...here.env, HOME: `${disk}/home`, DRAGOMAN_MODEL: 'rehearsal/hello' },
    encoding: 'utf8',
    timeout: 60_000,
  })
  return { code: status, out: stdout, err: stderr }
}

const READ_ONLY = 'mkdir home && mount -o remount,ro .'
const FULL = 'mkdir home && { head -c 100000 /dev/zero > fill 2>/dev/null; true; }'

describe('a machine on which something is wrong', () => {
  for (const [name, prepare, reason] of [
    ['a read-only home', READ_ONLY, /the disk is read-only/],
    ['a full disk', FULL, /the disk is full/],
  ] as const) {
    test(`${name}: one sentence, one exit code`, { skip: noMounts }, async () => {
      const here = await stage(HELLO)
      for (const args of [
        ['-p', 'hi'],
        ['trust', '--yes'],
        ['login', 'openai', '--key', 'sk-x'],
      ].slice(0, 2)) {
        const { code, err } = onDisk(here, prepare, args)
        assert.equal(code, 52, err)
        assert.match(err, reason)
        assert.equal(err.trim().split('\n').length, 1, err)
      }
    })

    test(`${name}: with --no-session the run works`, { skip: noMounts }, async () => {
      const here = await stage(HELLO)
      const { code, out, err } = onDisk(here, prepare, ['-p', 'hi', '--no-session'])
      assert.equal(code, 0, err)
      assert.match(out, /rehearsal/)
      assert.doesNotMatch(err, /internal error/)
    })
  }

  test('a home below a file system that holds no files', async () => {
    const here = await stage(HELLO)
    const ended = spawnSync(process.execPath, [join(root, 'bin/dragoman'), '-p', 'hi'], {
      cwd: here.work,
      env: { ...here.env, HOME: '/proc/nobody' },
      encoding: 'utf8',
      timeout: 60_000,
    })
    assert.equal(ended.status, 52, ended.stderr)
    assert.match(ended.stderr, /^dragoman: sessions cannot be saved in \/proc\/nobody\S*: .*--no-session\n$/)
  })

  test('an empty or relative HOME, or XDG folders that are relative, write nothing into the project', async () => {
    for (const more of [
      { HOME: '' },
      { HOME: 'relative' },
      { XDG_DATA_HOME: 'data', XDG_CONFIG_HOME: 'config', XDG_CACHE_HOME: 'cache' },
    ] as Record<string, string>[]) {
      const here = await stage(HELLO)
      // The home that the system knows instead is somebody's: nothing of it is read or written here.
      const env = { ...here.env, XDG_CONFIG_HOME: join(here.home, 'config'), ...more }
      const { code, err } = await dragoman(['-p', 'hi', '--no-session', '--sandbox', 'off'], { ...here, env })
      assert.equal(code, 0, err)
      await dragoman(['trust'], { ...here, env })
      assert.deepEqual(readdirSync(here.work), [], JSON.stringify(more))
    }
    const here = await stage(HELLO)
    const env = { ...here.env, XDG_DATA_HOME: 'data' }
    assert.equal((await dragoman(['-p', 'hi'], { ...here, env })).code, 0)
    assert.deepEqual(readdirSync(here.work), [])
    assert.ok(existsSync(join(here.home, '.local/share/dragoman/sessions')))
  })

  test('a working folder that is gone', async () => {
    const here = await stage(HELLO)
    const gone = join(here.work, 'gone')
    for (const args of ['-p hi', 'models', 'sessions list', 'trust', 'mcp list', 'config show'].map((one) =>
      one.split(' '),
    )) {
      mkdirSync(gone)
      const program = [process.execPath, join(root, 'bin/dragoman'), ...args].map((word) => `'${word}'`).join(' ')
      const script = `cd '${gone}' && rmdir '${gone}' && ${program}`
      const { status, stderr } = spawnSync('sh', ['-c', script], { env: here.env, encoding: 'utf8', timeout: 60_000 })
      if (existsSync(gone)) rmdirSync(gone)
      assert.equal(status, 42, `${args.join(' ')}: ${stderr}`)
      assert.match(stderr, /^dragoman: the current folder no longer exists; change to another folder\n$/)
    }
    assert.equal(here.server.requests.length, 0)
  })

  test('--no-session keeps nothing, and does not go on with a session', async () => {
    const here = await stage([
      { call: [{ name: 'write_file', args: { file_path: '{cwd}/made.txt', content: 'x' } }] },
      { say: 'Done.' },
    ])
    const scratch = join(here.home, 'tmp')
    mkdirSync(scratch)
    const env = { ...here.env, TMPDIR: scratch }
    const { code, err } = await dragoman(['-p', 'make it', '--yolo', '--no-session'], { ...here, env })
    assert.equal(code, 0, err)
    assert.ok(existsSync(join(here.work, 'made.txt')))
    assert.ok(!existsSync(join(here.home, '.local/share/dragoman/sessions')))
    assert.deepEqual(readdirSync(scratch), [])
    const both = await dragoman(['-p', 'x', '--no-session', '--resume'], here)
    assert.equal(both.code, 42)
    assert.match(both.err, /--no-session cannot be combined with --resume/)
  })
})
