import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { clearAway } from '../support/clear.ts'
import { root } from '../support/paths.ts'

const place = mkdtempSync(join(tmpdir(), 'dragoman-environment-'))
after(() => clearAway(place))

/** What a program says that runs in the environment of a test run, on a machine with these variables. */
function inTestRun(code: string, env: Record<string, string>, hide: readonly string[] = []): string {
  const script = `
    import { execFileSync } from 'node:child_process'
    import { testEnvironment } from ${JSON.stringify(join(root, 'scripts/lib/test-env.mjs'))}
    const env = testEnvironment(${JSON.stringify(hide)})
    process.stdout.write(execFileSync(process.execPath, ['-e', ${JSON.stringify(code)}], { env }))`
  return execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: place,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'] ?? '', ...env },
  })
}

describe('the environment of a test run', () => {
  test('has no key, no settings and no servers of the machine; options of the tests are there', () => {
    const machine = {
      HOME: place,
      OPENAI_API_KEY: 'k',
      GEMINI_API_KEY: 'k',
      HTTPS_PROXY: 'http://127.0.0.1:9',
      XDG_CONFIG_HOME: place,
      NODE_OPTIONS: '--no-warnings',
      BASH_ENV: '/nonexistent',
      DRAGOMAN_MODEL: 'openai/x',
      DRAGOMAN_OPENAI_BASE_URL: 'http://127.0.0.1:9',
      DRAGOMAN_TRACE: 'trace',
      DRAGOMAN_CRASHES: '7',
      DRAGOMAN_SEED: '5',
    }
    const env = JSON.parse(inTestRun('console.log(JSON.stringify(process.env))', machine)) as Record<string, string>
    for (const name of Object.keys(machine).slice(1, -2)) assert.equal(env[name], undefined, name)
    assert.deepEqual([env['DRAGOMAN_CRASHES'], env['DRAGOMAN_SEED'], env['FC_SEED']], ['7', '5', '5'])
    assert.equal(env['DRAGOMAN_LOCAL_SERVERS'], 'off')
    assert.notEqual(env['HOME'], place)
  })

  test('git reads none of the machine’s settings', () => {
    writeFileSync(join(place, '.gitconfig'), '[core]\n\thooksPath = /evil\n[user]\n\tname = canary\n')
    mkdirSync(join(place, 'git'))
    writeFileSync(join(place, 'git/config'), '[alias]\n\tcanary = log\n')
    const code = `console.log(require('child_process').spawnSync('git', ['config', '--list'], { encoding: 'utf8' }).stdout)`
    assert.doesNotMatch(inTestRun(code, { HOME: place, XDG_CONFIG_HOME: place }), /canary|evil/)
  })

  test('programs can be hidden, and only they are', () => {
    const code = `const { spawnSync } = require('child_process')
      console.log(JSON.stringify(['git', 'cat', 'ls'].map((name) => spawnSync(name, ['--version']).error?.code ?? 'there')))`
    const there = spawnSync('git', ['--version']).status === 0 ? 'there' : 'ENOENT'
    assert.deepEqual(JSON.parse(inTestRun(code, { HOME: place })), [there, 'there', 'there'])
    assert.deepEqual(JSON.parse(inTestRun(code, { HOME: place }, ['cat', 'ls'])), [there, 'ENOENT', 'ENOENT'])
  })
})
