import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseConfig } from '../../src/cli/config/read-settings.ts'
import { CONFIG_SCHEMA } from '../../src/cli/config/schema.ts'
import { MISBEHAVIOURS } from '../../src/rehearsal/misbehaviour/misbehaviour.ts'
import { parseRehearsalScript, REHEARSAL_SCRIPT_SCHEMA } from '../../src/rehearsal/script/script-schema.ts'
import { dragoman, stage } from '../support/command.ts'
import { root } from '../support/paths.ts'
import { blocksIn, pages } from './pages.ts'

const noGroff = spawnSync('groff', ['--version']).status === 0 ? false : 'groff is not installed'
const page = join(root, 'man/dragoman.1')
/** No colours, no overstrikes. */
const PLAIN = '-P-cbou'

test('the pages that are made from the sources are up to date', () => {
  const { status, stdout } = spawnSync(process.execPath, [join(root, 'scripts/docs.mjs'), '--check'], {
    encoding: 'utf8',
  })
  assert.equal(status, 0, stdout)
})

test('groff has nothing to say about the man page', { skip: noGroff }, () => {
  const { stdout, stderr, status } = spawnSync('groff', ['-man', '-Tutf8', '-ww', PLAIN, page], { encoding: 'utf8' })
  assert.equal(stderr, '')
  assert.equal(status, 0)
  for (const heading of ['NAME', 'SYNOPSIS', 'OPTIONS', 'COMMANDS', 'EXAMPLES', 'EXIT STATUS', 'ENVIRONMENT', 'FILES'])
    assert.match(stdout, new RegExp(`^${heading}$`, 'm'))
})

test('man shows what the help says', { skip: noGroff }, () => {
  const shown = execFileSync('groff', ['-man', '-Tutf8', '-rLL=200n', PLAIN, page], { encoding: 'utf8' })
  for (const text of ['-p, --prompt <text>', '--approval-mode <mode>', 'dragoman sessions', "'rm -rf build'"])
    assert.ok(shown.includes(text), text)
})

test('dragoman config schema prints the published schema', async () => {
  const { out } = await dragoman(['config', 'schema'], await stage([]))
  assert.equal(out, readFileSync(join(root, 'docs/config.schema.json'), 'utf8'))
})

test('the file that the page shows is valid, and has every setting', () => {
  const blocks = pages().flatMap((one) => blocksIn(one).filter(({ mark }) => mark === 'config'))
  assert.equal(blocks.length, 1)
  const config = parseConfig('config.json', blocks[0]?.code ?? '')
  const known = CONFIG_SCHEMA['properties'] as Record<string, unknown>
  assert.deepEqual(Object.keys(config).sort(), Object.keys(known).sort())
})

test('the scripts that the pages show are valid', () => {
  const blocks = pages().flatMap((one) => blocksIn(one).filter(({ mark }) => mark === 'script'))
  assert.equal(blocks.length, 2)
  for (const { code } of blocks) assert.ok(parseRehearsalScript(JSON.parse(code)).steps.length > 0)
})

test('each setting of a misbehaviour is named where its kind is described', () => {
  const { misbehaviour } = REHEARSAL_SCRIPT_SCHEMA['$defs'] as Record<string, { properties: Record<string, unknown> }>
  const abouts = Object.values(MISBEHAVIOURS).map(({ about }) => about)
  const ofAll = ['kind', 'times', 'skip']
  const settings = Object.keys(misbehaviour?.properties ?? {}).filter((key) => !ofAll.includes(key))
  assert.ok(settings.length > 10)
  for (const key of settings) assert.ok(abouts.join().includes(`\`${key}\``), key)
})
