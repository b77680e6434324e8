import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { SourceMap, type SourceMapPayload } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { clearAway } from '../support/clear.ts'
import { root } from '../support/paths.ts'

const chunks = join(root, 'dist/chunks')
const readChunk = (name: string): string => readFileSync(join(chunks, name), 'latin1')
const hotFiles = readdirSync(chunks).filter((name) => /^hot-[\w-]+\.cjs$/.test(name))

interface LintReport {
  readonly diagnostics: readonly { readonly message: string }[]
  readonly number_of_files: number
}

/** In code that never runs, for Node's loader of ES modules; and about the length of the lines. */
const LIST_OF_EXPORTS = /^'(?:part|parts|startCli)' is not defined|too long to fit/

describe('functions that every start calls are compiled with their file', () => {
  test('the build has marked them, and only them', () => {
    const marks = (name: string): number => readChunk(name).match(/var [\w$]+=\((?:async )?function/g)?.length ?? 0
    assert.ok(marks('hot-start.cjs') > 300, `hot-start.cjs: ${marks('hot-start.cjs')}`)
    for (const wire of ['anthropic', 'gemini', 'openai-chat', 'openai-responses'])
      assert.ok(marks(`hot-${wire}.cjs`) > 0, wire)
    assert.equal(marks('hot-response.cjs'), 0)
  })

  // The bundler writes them as functions, and does it wrong for `this`, `super` and `new.target` in some places.
  test('arrow functions mean the same as in the sources', () => {
    const config = join(mkdtempSync(join(tmpdir(), 'dragoman-eager-')), '.oxlintrc.json')
    const env = { node: true, commonjs: true, es2024: true, browser: true, worker: true }
    writeFileSync(config, JSON.stringify({ env, categories: { correctness: 'off' }, rules: { 'no-undef': 'error' } }))
    const files = hotFiles.map((name) => join(chunks, name))
    const args = [join(root, 'node_modules/oxlint/bin/oxlint'), '-f', 'json', '-c', config, '--no-ignore', ...files]
    const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    clearAway(dirname(config))
    const { diagnostics, number_of_files: count } = JSON.parse(stdout) as LintReport
    assert.equal(count, hotFiles.length)
    const problems = diagnostics.map(({ message }) => message).filter((message) => !LIST_OF_EXPORTS.test(message))
    assert.deepEqual(problems, [])
    for (const name of hotFiles) assert.ok(!readChunk(name).includes('new.target'), name)
  })

  // The marks move all that stands behind them.
  test('source maps still lead to the sources', () => {
    let right = 0
    const wrong: string[] = []
    for (const name of hotFiles) {
      const payload = JSON.parse(readChunk(`${name}.map`)) as SourceMapPayload
      const map = new SourceMap(payload)
      for (const [line, text] of readChunk(name).split('\n').entries()) {
        for (const { 1: literal = '', index } of text.matchAll(/"([a-z][\w ]{15,60})"/g)) {
          const entry = map.findEntry(line, index)
          assert.ok('originalSource' in entry, `${name}: ${literal}`)
          const source = payload.sourcesContent[payload.sources.indexOf(entry.originalSource)] ?? ''
          if (source.split('\n')[entry.originalLine]?.includes(literal)) right += 1
          else wrong.push(`${name}: ${literal}`)
        }
      }
    }
    // The bundler joins some literals.
    assert.ok(right > 500 && wrong.length < right / 50, `${right} right, wrong: ${wrong.join('; ')}`)
  })
})
