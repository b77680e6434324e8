import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test, type TestContext } from 'node:test'
import { clearAway } from '../support/clear.ts'
import { root } from '../support/paths.ts'

const place = mkdtempSync(join(tmpdir(), 'dragoman-from-source-'))
after(() => clearAway(place))

/** What a clone holds. */
const SOURCES = readdirSync(root).filter(
  (name) => !['.git', '.build', 'dist', 'node_modules', 'coverage'].includes(name),
)

const USE = `
import { agent, tool } from 'dragoman'
import { generateValidName } from 'dragoman/embed'
const name: string = generateValidName('a b')
const echo = tool({ name, description: 'Echoes.', parameters: { type: 'object' }, execute: () => 'x' })
export const made = agent({ model: 'rehearsal/hello', tools: [echo] })
// @ts-expect-error A model is a name.
agent({ model: 5 })
`

/** A copy of the sources, without a build. */
function cloned(name: string): string {
  const folder = join(place, name)
  mkdirSync(folder)
  for (const file of SOURCES)
    if (file !== 'THIRD-PARTY-NOTICES') cpSync(join(root, file), join(folder, file), { recursive: true })
  return folder
}

/** npm installs what a git repository needs for its build; what only tests need would take minutes. */
function leaveOutTestTools(file: string): void {
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as { devDependencies: Record<string, string> }
  for (const name of Object.keys(manifest.devDependencies))
    if (/^(?:ox|ajv|fast-check|google-auth)|mock|xterm|playwright|conformance|server-/.test(name))
      delete manifest.devDependencies[name]
  writeFileSync(file, JSON.stringify(manifest, undefined, 2))
}

/** Installs something into a project of its own, and has TypeScript check how it is used. */
function assertTyped(t: TestContext, what: string): void {
  const project = mkdtempSync(join(place, 'project-'))
  writeFileSync(join(project, 'package.json'), '{"private":true,"type":"module"}')
  const install = spawnSync('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', what], {
    cwd: project,
    encoding: 'utf8',
    timeout: 600_000,
  })
  if (/E(?:NOTFOUND|AI_AGAIN|CONNREFUSED|TIMEDOUT|NOTCACHED)|network/i.test(install.stderr) && install.status !== 0)
    return t.skip(`the registry cannot be reached: ${install.stderr.split('\n')[0]}`)
  assert.equal(install.status, 0, install.stderr)
  const installed = join(project, 'node_modules/dragoman')
  for (const file of ['dist/index.d.ts', 'dist/embed/index.d.ts', 'dist/index.js', 'THIRD-PARTY-NOTICES'])
    assert.ok(existsSync(join(installed, file)), `${file} is missing`)
  writeFileSync(join(project, 'use.ts'), USE)
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const flags = ['--noEmit', '--strict', '--module', 'nodenext', '--skipLibCheck', '--types', 'node']
  mkdirSync(join(project, 'node_modules/@types'), { recursive: true })
  symlinkSync(join(root, 'node_modules/@types/node'), join(project, 'node_modules/@types/node'))
  const checked = spawnSync(process.execPath, [tsc, ...flags, 'use.ts'], { cwd: project, encoding: 'utf8' })
  assert.equal(checked.status, 0, checked.stdout)
}

describe('installed from its sources, it has types', () => {
  test('from a folder', (t) => {
    const clone = cloned('folder')
    // A folder of links, so that nothing is installed twice and nothing of ours can be changed.
    const modules = join(clone, 'node_modules')
    mkdirSync(modules)
    for (const name of readdirSync(join(root, 'node_modules')))
      if (!name.startsWith('.')) symlinkSync(join(root, 'node_modules', name), join(modules, name))
    assertTyped(t, clone)
  })

  test('from a git repository', (t) => {
    const clone = cloned('repository')
    leaveOutTestTools(join(clone, 'package.json'))
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd: clone })
    git('init', '-q')
    git('add', '-A')
    git('commit', '-qm', 'All')
    assertTyped(t, `git+file://${clone}`)
  })
})

test('without the tools of the build, preparing does nothing and does not fail', () => {
  const clone = cloned('bare')
  const env = { PATH: process.env['PATH'] ?? '', HOME: place, npm_config_omit: 'dev' }
  const { status, stderr } = spawnSync(process.execPath, ['scripts/prepare.mjs'], { cwd: clone, env, encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  assert.ok(!existsSync(join(clone, 'dist')) && !existsSync(join(clone, 'node_modules')))
})
