import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { builtinTools } from '../../src/tool/builtin/index.ts'
import { createEditCorrector } from '../../src/tool/edit/correct-edit.ts'
import type { AuxiliaryModel } from '../../src/tool/auxiliary-model.ts'
import { diffOf, textOf, workspace } from './workspace.ts'

/** A model that says one thing, and remembers what it was asked. */
function saying(answer: string | { readonly problem: string }): AuxiliaryModel & { readonly asked: string[] } {
  const asked: string[] = []
  return {
    serverTools: [],
    asked,
    query(question) {
      asked.push(question)
      return Promise.resolve(typeof answer === 'string' ? { text: answer } : answer)
    },
  }
}

const FILE = 'function total(items) {\n  return items.length\n}\n'
const EDIT = {
  file_path: 'a.js',
  instruction: 'Count only what is valid.',
  old_string: 'def total(list):\n    return len(list)',
  new_string: 'def total(list):\n    return len(valid(list))',
}
const RIGHT = JSON.stringify({ old_string: '  return items.length', new_string: '  return valid(items).length' })

describe('an edit that does not fit can be put right by a model', () => {
  test('not unless it is switched on', async () => {
    using ws = workspace({ 'a.js': FILE })
    const output = await ws.call('smart_edit', EDIT)
    assert.equal(output.error?.type, 'edit-no-occurrence-found')
    assert.equal(ws.read('a.js'), FILE)
  })

  test('once, and it is told', async () => {
    const model = saying(`Here it is:\n\`\`\`json\n${RIGHT}\n\`\`\``)
    using ws = workspace({ 'a.js': FILE }, { selfCorrect: createEditCorrector(model) })
    const tool = builtinTools({ selfCorrect: createEditCorrector(model) }).find(
      ({ spec }) => spec.name === 'smart_edit',
    )
    assert.ok(tool)
    const shown = await tool.preview?.(EDIT, ws.context)
    const output = await tool.run(EDIT, ws.context)
    assert.equal(model.asked.length, 1, 'what the person was shown is what is done')
    assert.ok(shown?.kind === 'edit')
    assert.equal(ws.read('a.js'), shown.newContent)
    assert.equal(ws.read('a.js'), FILE.replace('items.length', 'valid(items).length'))
    assert.equal(
      textOf(output),
      `Successfully modified file: ${join(ws.root, 'a.js')} (1 replacements). Matched exactly, line 2. old_string was corrected first.`,
    )
    assert.equal(diffOf(output).diffStat.ai_added_lines, 1)
    assert.ok(model.asked[0]?.includes(FILE) && model.asked[0].includes(EDIT.instruction))
  })

  test('an edit that fits is not asked about', async () => {
    const model = saying(RIGHT)
    using ws = workspace({ 'a.js': FILE }, { selfCorrect: createEditCorrector(model) })
    await ws.call('smart_edit', { ...EDIT, old_string: 'items.length', new_string: 'items.size' })
    await ws.call('replace', EDIT)
    assert.equal(model.asked.length, 0)
  })

  const useless: readonly (readonly [what: string, answer: string | { readonly problem: string }])[] = [
    ['no answer', { problem: 'The model is away.' }],
    ['words', 'I cannot do that.'],
    ['a search text that is not there', JSON.stringify({ old_string: 'nowhere', new_string: 'x' })],
    ['a search text that is there twice', JSON.stringify({ old_string: 'items', new_string: 'x' })],
    ['an empty search text', JSON.stringify({ old_string: '', new_string: 'x' })],
    ['nothing to change', JSON.stringify({ old_string: 'items.length', new_string: 'items.length' })],
    [
      'a placeholder',
      JSON.stringify({ old_string: 'items.length', new_string: '// ... rest of the code unchanged ...' }),
    ],
    ['another shape', JSON.stringify({ old_string: ['items.length'], new_string: 7 })],
    ['broken JSON', '{"old_string": "items.length", "new_string": "x'],
  ]
  for (const [what, answer] of useless) {
    test(`${what} leaves the first refusal, and the file as it is`, async () => {
      using ws = workspace({ 'a.js': FILE }, { selfCorrect: createEditCorrector(saying(answer)) })
      const output = await ws.call('smart_edit', EDIT)
      assert.equal(output.error?.type, 'edit-no-occurrence-found')
      assert.equal(ws.read('a.js'), FILE)
    })
  }
})
