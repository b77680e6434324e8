import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { SourceMap, type SourceMapPayload } from 'node:module'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { root } from '../support/paths.ts'

const chunks = join(root, 'dist/chunks')
const readChunk = (name: string): string => readFileSync(join(chunks, name), 'latin1')
const hotFiles = readdirSync(chunks).filter((name) => /^hot-[\w-]+\.cjs$/.test(name))

describe('functions that every start calls are compiled with their file', () => {
  test('the build has marked them, and only them', () => {
    const marks = (name: string): number => readChunk(name).match(/var [\w$]+=\((?:async )?function/g)?.length ?? 0
    assert.ok(marks('hot-start.cjs') > 300, `hot-start.cjs: ${marks('hot-start.cjs')}`)
    for (const wire of ['anthropic', 'gemini', 'openai-chat', 'openai-responses'])
      assert.ok(marks(`hot-${wire}.cjs`) > 0, wire)
    assert.equal(marks('hot-response.cjs'), 0)
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
